package serving_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/serving"
)

// The endpoints answer until the context ends.
func TestEndpoints(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var ready, broken atomic.Bool
	endpoints := serving.Endpoints{
		Metrics: func(w io.Writer) error {
			if broken.Load() {
				return errors.New("no figures")
			}
			_, err := io.WriteString(w, "requests 1\n")
			return err
		},
		Ready: func() error {
			if !ready.Load() {
				return errors.New("objects are being listed")
			}
			return nil
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- endpoints.Serve(ctx, l) }()
	asks := func(path string, code int, text string) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, http.NoBody)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, code, answer.StatusCode)
		require.Equal(t, text, string(body))
	}
	asks("/healthz", http.StatusOK, "ok\n")
	asks("/readyz", http.StatusServiceUnavailable, "objects are being listed\n")
	ready.Store(true)
	asks("/readyz", http.StatusOK, "ok\n")
	asks("/metrics", http.StatusOK, "requests 1\n")
	broken.Store(true)
	asks("/metrics", http.StatusInternalServerError, "no figures\n")
	stop()
	require.NoError(t, <-ended)
	require.Error(t, endpoints.Serve(t.Context(), l), "the listener is closed")
}

func TestParse(t *testing.T) {
	flags := flag.NewFlagSet("p", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	require.EqualError(t, serving.Parse(flags, []string{"serve"}), `argument "serve": there are flags only`)
	require.ErrorIs(t, serving.Parse(flags, []string{"-h"}), flag.ErrHelp)
	require.NoError(t, serving.Parse(flags, nil))
}
