package clusterautoscaler_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
)

// writeCertificate writes a certificate for localhost, signed by itself, with a serial number, and its key.
func writeCertificate(t testing.TB, folder string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "plimsoll-expander"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return cert, key
}

// running is a server that answers on a socket, with the file of its certificate.
type running struct {
	*clusterautoscaler.Server
	address, cert string
	stop          func() error
}

// serve starts a server with settings beside TLS. It ends with the test.
func serve(t testing.TB, s clusterautoscaler.Settings, network, address string) *running {
	t.Helper()
	cert, key := writeCertificate(t, t.TempDir(), 1)
	certificate, err := clusterautoscaler.LoadCertificate(cert, key, s.Log)
	require.NoError(t, err)
	s.TLS = certificate.TLS()
	server, err := clusterautoscaler.NewServer(s)
	require.NoError(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	r := &running{Server: server, address: l.Addr().String(), cert: cert}
	if network == "unix" {
		r.address = "unix://" + address
	}
	r.stop = func() error { cancel(); return <-served }
	t.Cleanup(cancel)
	return r
}

// dial connects as the autoscaler does: with the certificate of --grpc-expander-cert.
func (r *running) dial(t testing.TB) *grpc.ClientConn {
	t.Helper()
	creds, err := credentials.NewClientTLSFromFile(r.cert, "localhost")
	require.NoError(t, err)
	conn, err := grpc.NewClient(r.address, grpc.WithTransportCredentials(creds))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// chooser is the real one, with the prices of the embedded catalogs.
func chooser(t testing.TB) clusterautoscaler.Chooser {
	t.Helper()
	prices, err := expander.NewPrices(nil, nil)
	require.NoError(t, err)
	return &expander.Chooser{Prices: prices}
}

// chooserFunc is a chooser that a test decides.
type chooserFunc func(ctx context.Context, r expander.Request) (expander.Choice, error)

func (f chooserFunc) Choose(ctx context.Context, r expander.Request) (expander.Choice, error) {
	return f(ctx, r)
}
