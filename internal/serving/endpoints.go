package serving

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
)

// Endpoints are /metrics, /healthz and /readyz of a program.
type Endpoints struct {
	// Metrics writes the metrics in the text format of OpenMetrics. Any number of goroutines may call it.
	Metrics func(io.Writer) error
	// Ready returns an error while the program is not ready, for the reader of /readyz; nil is always ready.
	Ready func() error
}

// Serve answers over HTTP on a listener until ctx ends, and closes the listener. The error is that of the listener; the end
// of ctx is none.
func (e Endpoints) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: e.handler(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // the process ends
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (e Endpoints) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var text bytes.Buffer // so that a slow client keeps no lock of the program's
		if err := e.Metrics(&text); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", openmetrics.ContentType)
		_, _ = text.WriteTo(w) // a client that is gone needs no answer
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if e.Ready != nil {
			if err := e.Ready(); err != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintln(w, err)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}
