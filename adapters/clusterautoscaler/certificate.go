package clusterautoscaler

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate is the TLS certificate in two files, which is read again when they change, e.g. when the volume of a Secret
// gets the next certificate. Any number of goroutines may use it.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	// changed are the times of the last change of the files that were read last.
	changed [2]time.Time
}

// LoadCertificate reads a certificate and its key in PEM. log gets the certificates that are read later; nil is none.
func LoadCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	changed, err := c.changes()
	if err == nil {
		err = c.load(changed)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// TLS is the configuration of a server with the certificate.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.latest(), nil }}
}

// latest is the certificate of the files, or the one before where the files cannot be read, because a client cannot do
// more about it than to fail.
func (c *Certificate) latest() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.changes()
	if err == nil && changed != c.changed {
		if err = c.load(changed); err == nil {
			c.log.Info("read the changed certificate", "file", c.certFile)
		}
	}
	if err != nil {
		c.log.Error("keep the former certificate", "error", err)
	}
	return c.current
}

// changes are the times of the last change of the files.
func (c *Certificate) changes() (out [2]time.Time, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return out, err
		}
		out[i] = info.ModTime()
	}
	return out, nil
}

// load reads the files, which were last changed at these times.
func (c *Certificate) load(changed [2]time.Time) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	c.current, c.changed = &pair, changed
	return nil
}
