package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/autoscaler"
)

// certificate writes a certificate for localhost, signed by itself, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	folder := t.TempDir()
	cert, key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return cert, key
}

// The program serves the autoscaler, metrics and probes until it is told to stop.
func TestRun(t *testing.T) {
	cert, key := certificate(t)
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	require.NoError(t, os.WriteFile(prices, []byte("prices:\n- {instanceType: \"*\", capacityType: on-demand, factor: 0.9}\n"), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	log, stderr := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{
			"--tls-cert", cert, "--tls-key", key, "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--prices", prices, "--node-overhead", "0.01",
		}, stderr)
		stderr.Close()
	}()
	lines := bufio.NewScanner(log)
	require.True(t, lines.Scan(), "the program ended: %v", lines.Err())
	var serving struct{ GRPC, Metrics string }
	require.NoError(t, json.Unmarshal(lines.Bytes(), &serving))
	go func() {
		for lines.Scan() { // so that the log blocks nothing
		}
	}()

	creds, err := credentials.NewClientTLSFromFile(cert, "localhost")
	require.NoError(t, err)
	conn, err := grpc.NewClient(serving.GRPC, grpc.WithTransportCredentials(creds))
	require.NoError(t, err)
	sent := autoscaler.Sample(1, 5, 40)
	got, err := autoscaler.Options(t.Context(), conn, sent, autoscaler.Both)
	require.NoError(t, err)
	assert.Less(t, len(got), len(sent.Options))
	require.NoError(t, conn.Close())
	for path, want := range map[string]string{"/healthz": "ok", "/metrics": `plimsoll_expander_requests_total{result="chosen"} 1`} {
		answer, err := http.Get("http://" + serving.Metrics + path)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Contains(t, string(body), want)
	}
	stop()
	require.NoError(t, <-ended)
}

func TestBadFlags(t *testing.T) {
	cert, key := certificate(t)
	tls := []string{"--tls-cert", cert, "--tls-key", key}
	broken := filepath.Join(t.TempDir(), "broken.csv")
	require.NoError(t, os.WriteFile(broken, []byte("name,cpu\nm5.large,two\n"), 0o600))
	for want, args := range map[string][]string{
		"--tls-cert: must be set, because Cluster Autoscaler connects by TLS alone\n--tls-key: must be set": {},
		"--deadline=0s: must be above 0":                                         append(tls, "--deadline", "0"),
		"--max-message-mib=0: must be from 1 to 2047":                            append(tls, "--max-message-mib", "0"),
		"--max-choices=-1: must not be negative":                                 append(tls, "--max-choices", "-1"),
		`argument "serve": there are flags only`:                                 append(tls, "serve"),
		`invalid value "free" for flag -node-overhead`:                           append(tls, "--node-overhead", "free"),
		"--catalog " + broken + ": reading CSV catalog: ":                        append(tls, "--catalog", broken),
		"--prices " + broken + ": ":                                              append(tls, "--prices", broken),
		"--prices committed:1y: committed-use prices":                            append(tls, "--prices", "committed:1y"),
		"--catalog none.json: neither an embedded catalog":                       append(tls, "--catalog", "none.json"),
		"stat none.crt: ":                                                        {"--tls-cert", "none.crt", "--tls-key", key},
		"--listen: listen tcp: address 1: missing port in address":               append(tls, "--listen", "1"),
		"--metrics-listen: listen tcp: address metrics: missing port in address": append(tls, "--listen", "127.0.0.1:0", "--metrics-listen", "metrics"),
	} {
		err := run(t.Context(), args, io.Discard)
		assert.ErrorContains(t, err, want)
	}
	assert.ErrorIs(t, run(t.Context(), []string{"-h"}, io.Discard), flag.ErrHelp)
}

// The README lists each flag, and the manifest sets none that does not exist.
func TestReadmeAndManifestKnowTheFlags(t *testing.T) {
	var usage bytes.Buffer
	_, err := parse([]string{"-h"}, &usage)
	require.ErrorIs(t, err, flag.ErrHelp)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^  -(\S+)`).FindAllStringSubmatch(usage.String(), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.Contains(t, string(readme), "`--"+name[1]+"`")
	}
	text, err := os.ReadFile("../../deploy.yaml")
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n---\n")
	var deployment appsv1.Deployment
	require.NoError(t, yaml.UnmarshalStrict([]byte(first), &deployment))
	_, err = parse(deployment.Spec.Template.Spec.Containers[0].Args, io.Discard)
	assert.NoError(t, err)
}
