package clusterautoscaler

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/grpcplugin"
)

// Chooser chooses among the options of a request; [expander.Chooser] is one.
type Chooser interface {
	// Choose is called by several goroutines. It should end with its context; its result is not used after that.
	Choose(ctx context.Context, r expander.Request) (expander.Choice, error)
}

// Settings are the settings of a [Server].
type Settings struct {
	// Chooser makes the choices; required.
	Chooser Chooser
	// TLS has the certificate; required, because Cluster Autoscaler connects by TLS alone.
	TLS *tls.Config
	// Log gets each choice; nil is no log.
	Log *slog.Logger
	// Deadline bounds the time for an answer; 0 is 4 s. The autoscaler itself waits 5 s.
	Deadline time.Duration
	// MaxMessageBytes bounds a request; 0 is 256 MiB.
	MaxMessageBytes int
	// MaxChoices bounds the requests that are read and planned at once; further ones wait for their turn until their
	// deadline. 0 is one for each processor.
	MaxChoices int
	// StopAfter bounds the time that requests have to end when the server stops; 0 is 10 s.
	StopAfter time.Duration
}

// maxStreams bounds the requests of one connection whose messages are held in memory; the client keeps further ones back.
const maxStreams = 16

// maxConnections bounds the connections; further ones wait to be accepted.
const maxConnections = 64

// window is the number of bytes that a client may send without an acknowledgement. Requests for thousands of pods are
// dozens of MiB.
const window = 16 << 20

// Server answers Cluster Autoscaler's question which node group to grow. An answer has at least one option. Where there
// is none, or none in time, the client gets an error, and the autoscaler goes on with all options and its next expander.
type Server struct {
	grpc      *grpc.Server
	health    *health.Server
	service   *service
	stopAfter time.Duration
}

// NewServer returns a server that is yet to be started. The error names the setting that is missing or negative.
func NewServer(s Settings) (*Server, error) {
	switch {
	case s.Chooser == nil:
		return nil, errors.New("chooser: must be set")
	case s.TLS == nil:
		return nil, errors.New("tls: must be set, because Cluster Autoscaler connects by TLS alone")
	case s.Deadline < 0:
		return nil, fmt.Errorf("deadline %v: must not be negative", s.Deadline)
	case s.StopAfter < 0:
		return nil, fmt.Errorf("stop after %v: must not be negative", s.StopAfter)
	case s.MaxMessageBytes < 0:
		return nil, fmt.Errorf("maximum of %d bytes of a message: must not be negative", s.MaxMessageBytes)
	case s.MaxChoices < 0:
		return nil, fmt.Errorf("maximum of %d choices: must not be negative", s.MaxChoices)
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	out := &Server{
		health:    health.NewServer(),
		stopAfter: cmp.Or(s.StopAfter, 10*time.Second),
		service: &service{
			chooser: s.Chooser, log: s.Log, deadline: cmp.Or(s.Deadline, 4*time.Second),
			turns: make(chan struct{}, cmp.Or(s.MaxChoices, runtime.GOMAXPROCS(0))), metrics: newMetrics(),
		},
	}
	out.grpc = grpc.NewServer(
		grpcplugin.Codec(),
		grpc.Creds(credentials.NewTLS(s.TLS)),
		grpc.MaxRecvMsgSize(cmp.Or(s.MaxMessageBytes, 256<<20)),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 10 * time.Second}), // finds cut connections
	)
	grpcplugin.Register(out.grpc, out.service)
	grpc_health_v1.RegisterHealthServer(out.grpc, out.health)
	return out, nil
}

// Serve answers requests on a listener until ctx ends, then lets open requests end, and closes the listener. The error is
// that of the listener; the end of ctx is none. A server serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(netutil.LimitListener(l, maxConnections)) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.health.Shutdown()
	timer := time.AfterFunc(s.stopAfter, s.grpc.Stop)
	defer timer.Stop()
	s.grpc.GracefulStop()
	return <-served
}

// WriteMetrics writes the metrics of the server in the text format of OpenMetrics. The only errors are those of w. Any number
// of goroutines may call it.
func (s *Server) WriteMetrics(w io.Writer) error { return s.service.metrics.write(w) }
