package clusterautoscaler_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler"
)

// A renewed certificate serves the next connection; a broken one leaves the former in place.
func TestRenewedCertificate(t *testing.T) {
	folder := t.TempDir()
	var log bytes.Buffer
	cert, key := writeCertificate(t, folder, 1)
	c, err := clusterautoscaler.LoadCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	serial := func() int64 {
		now, err := c.TLS().GetCertificate(&tls.ClientHelloInfo{})
		require.NoError(t, err)
		return now.Leaf.SerialNumber.Int64()
	}
	assert.Equal(t, int64(1), serial())
	later := time.Now().Add(time.Minute)
	writeCertificate(t, folder, 2)
	require.NoError(t, os.Chtimes(cert, later, later))
	assert.Equal(t, int64(2), serial())
	require.NoError(t, os.WriteFile(key, []byte("no key"), 0o600))
	require.NoError(t, os.Chtimes(key, later, later))
	assert.Equal(t, int64(2), serial())
	assert.Contains(t, log.String(), `msg="keep the former certificate"`)
	require.NoError(t, os.Remove(key))
	assert.Equal(t, int64(2), serial())
}

func TestCertificateThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	cert, key := writeCertificate(t, folder, 1)
	_, err := clusterautoscaler.LoadCertificate(filepath.Join(folder, "none.crt"), key, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = clusterautoscaler.LoadCertificate(cert, cert, nil)
	assert.ErrorContains(t, err, "certificate "+cert+" with key "+cert+": ")
}
