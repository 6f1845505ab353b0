package clusterautoscaler_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/autoscaler"
)

const anyPort = "127.0.0.1:0"

// metrics are the lines of the server's metrics.
func (r *running) metrics(t testing.TB) []string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, r.WriteMetrics(&text))
	return strings.Split(text.String(), "\n")
}

// patience is how long anything may take; a busy machine is slow.
const patience = 2 * time.Minute

// answers waits until the server answers a good request in time. An error gives all options.
func (r *running) answers(t testing.TB) {
	t.Helper()
	sent, conn := autoscaler.Sample(1, 5, 40), r.dial(t)
	require.Eventually(t, func() bool {
		got, err := autoscaler.Options(t.Context(), conn, sent, autoscaler.Bytes)
		return err == nil && len(got) < len(sent.Options)
	}, patience, time.Millisecond)
}

// All versions of the autoscaler get the same answer, over TCP and over a Unix socket.
func TestAnswersAllVersions(t *testing.T) {
	sent := autoscaler.Sample(7, 12, 200)
	want, err := chooser(t).Choose(t.Context(), sent)
	require.NoError(t, err)
	for _, r := range []*running{
		serve(t, clusterautoscaler.Settings{Chooser: chooser(t)}, "tcp", anyPort),
		serve(t, clusterautoscaler.Settings{Chooser: chooser(t)}, "unix", filepath.Join(t.TempDir(), "s")),
	} {
		for _, g := range []autoscaler.Generation{autoscaler.Messages, autoscaler.Both, autoscaler.Bytes} {
			got, err := autoscaler.Options(t.Context(), r.dial(t), sent, g)
			require.NoError(t, err)
			require.Len(t, got, len(want.Best))
			assert.Equal(t, want.Best[0].NodeGroup, got[0].NodeGroup)
			assert.Equal(t, want.Best[0].NodeCount, got[0].NodeCount)
		}
		lines := r.metrics(t)
		assert.Contains(t, lines, `plimsoll_expander_requests_total{result="chosen"} 3`)
		assert.Contains(t, lines, `plimsoll_expander_request_duration_seconds_count 3`)
		assert.Contains(t, lines, `plimsoll_expander_options 12`)
	}
}

func TestMalformedRequest(t *testing.T) {
	r := serve(t, clusterautoscaler.Settings{Chooser: chooser(t)}, "tcp", anyPort)
	message, err := autoscaler.Marshal(autoscaler.Sample(1, 5, 40), autoscaler.Bytes)
	require.NoError(t, err)
	_, err = autoscaler.BestOptions(t.Context(), r.dial(t), message[:len(message)-1])
	assert.Equal(t, codes.InvalidArgument, status.Code(err), err)
	assert.ErrorContains(t, err, "malformed BestOptionsRequest: ")
	_, err = autoscaler.BestOptions(t.Context(), r.dial(t), nil)
	assert.Equal(t, codes.FailedPrecondition, status.Code(err), err)
	r.answers(t)
	assert.Contains(t, r.metrics(t), `plimsoll_expander_requests_total{result="malformed"} 1`)
	assert.Contains(t, r.metrics(t), `plimsoll_expander_requests_total{result="no_choice"} 1`)
}

func TestMessageThatIsTooLarge(t *testing.T) {
	r := serve(t, clusterautoscaler.Settings{Chooser: chooser(t), MaxMessageBytes: 64 << 10}, "tcp", anyPort)
	message, err := autoscaler.Marshal(autoscaler.Sample(1, 5, 1000), autoscaler.Bytes)
	require.NoError(t, err)
	_, err = autoscaler.BestOptions(t.Context(), r.dial(t), message)
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	r.answers(t)
}

// A plan that does not end in time is an error before the autoscaler's own timeout, so that it goes on with all options.
func TestPlanThatTakesTooLong(t *testing.T) {
	release := make(chan struct{})
	var slow atomic.Bool
	slow.Store(true)
	r := serve(t, clusterautoscaler.Settings{MaxChoices: 1, Deadline: 100 * time.Millisecond, Chooser: chooserFunc(func(_ context.Context, q expander.Request) (expander.Choice, error) {
		if slow.Load() {
			<-release // heeds no context
		}
		return expander.Choice{Best: []expander.Scored{{Option: q.Options[0]}}, Options: make([]expander.Scored, 1)}, nil
	})}, "tcp", anyPort)
	sent := autoscaler.Sample(1, 5, 40)
	conn := r.dial(t)
	for range 2 { // the second one gets no turn
		got, err := autoscaler.Options(t.Context(), conn, sent, autoscaler.Bytes)
		require.NoError(t, err)
		assert.Len(t, got, len(sent.Options))
	}
	assert.Contains(t, r.metrics(t), `plimsoll_expander_requests_total{result="deadline"} 2`)
	slow.Store(false)
	close(release)
	require.Eventually(t, func() bool {
		got, err := autoscaler.Options(t.Context(), conn, sent, autoscaler.Bytes)
		return err == nil && len(got) == 1
	}, patience, time.Millisecond)
}

// A planner that panics, or that chooses nothing, is an error of the one request.
func TestPlannerThatFails(t *testing.T) {
	var log bytes.Buffer
	var panics atomic.Bool
	panics.Store(true)
	r := serve(t, clusterautoscaler.Settings{Log: slog.New(slog.NewTextHandler(&log, nil)), Chooser: chooserFunc(func(context.Context, expander.Request) (expander.Choice, error) {
		if panics.Load() {
			panic("broken")
		}
		return expander.Choice{}, nil
	})}, "tcp", anyPort)
	message, err := autoscaler.Marshal(autoscaler.Sample(1, 5, 40), autoscaler.Bytes)
	require.NoError(t, err)
	_, err = autoscaler.BestOptions(t.Context(), r.dial(t), message)
	assert.Equal(t, codes.Internal, status.Code(err), err)
	assert.ErrorContains(t, err, "panic: broken")
	panics.Store(false)
	_, err = autoscaler.BestOptions(t.Context(), r.dial(t), message)
	assert.ErrorContains(t, err, "no option to recommend", "an empty answer would stop the autoscaler")
	require.NoError(t, r.stop())
	assert.Contains(t, log.String(), "server_test.go", "the stack")
}

// A client that goes away, in the middle of a message or of a plan, leaves the server running.
func TestCutConnections(t *testing.T) {
	r := serve(t, clusterautoscaler.Settings{Chooser: chooser(t)}, "tcp", anyPort)
	raw, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}).DialContext(t.Context(), "tcp", r.address)
	require.NoError(t, err)
	_, err = io.WriteString(raw, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04")
	require.NoError(t, err)
	require.NoError(t, raw.Close())

	message, err := autoscaler.Marshal(autoscaler.Sample(1, 10, 1000), autoscaler.Bytes)
	require.NoError(t, err)
	conn := r.dial(t)
	conn.Connect()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := autoscaler.BestOptions(ctx, conn, message)
		done <- err
	}()
	time.Sleep(5 * time.Millisecond)
	cancel()
	<-done // with or without an answer
	require.NoError(t, conn.Close())
	r.answers(t)
}

// 1,000 requests at once are answered, or end in an error, and the server goes on.
func TestManyRequestsAtOnce(t *testing.T) {
	r := serve(t, clusterautoscaler.Settings{Chooser: chooser(t)}, "tcp", anyPort)
	message, err := autoscaler.Marshal(autoscaler.Sample(1, 5, 20), autoscaler.Bytes)
	require.NoError(t, err)
	want, err := autoscaler.BestOptions(t.Context(), r.dial(t), message)
	require.NoError(t, err)
	var wg sync.WaitGroup
	var answered atomic.Int64
	for range 10 {
		conn := r.dial(t)
		for range 100 {
			wg.Go(func() {
				if got, err := autoscaler.BestOptions(t.Context(), conn, message); err == nil {
					assert.Equal(t, want, got)
					answered.Add(1)
				} else {
					assert.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
				}
			})
		}
	}
	wg.Wait()
	assert.Positive(t, answered.Load())
	r.answers(t)
}

func TestHealth(t *testing.T) {
	r := serve(t, clusterautoscaler.Settings{Chooser: chooser(t)}, "tcp", anyPort)
	answer, err := grpc_health_v1.NewHealthClient(r.dial(t)).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus())
}

// A server that stops answers the request that it has begun.
func TestStop(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	r := serve(t, clusterautoscaler.Settings{Chooser: chooserFunc(func(_ context.Context, q expander.Request) (expander.Choice, error) {
		close(begun)
		<-end
		return expander.Choice{Best: []expander.Scored{{Option: q.Options[0]}}}, nil
	})}, "tcp", anyPort)
	conn, sent := r.dial(t), autoscaler.Sample(1, 5, 40)
	got := make(chan int, 1)
	go func() {
		options, _ := autoscaler.Options(t.Context(), conn, sent, autoscaler.Bytes)
		got <- len(options)
	}()
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	close(end)
	assert.Equal(t, 1, <-got)
	require.NoError(t, <-stopped)
}

func TestSettingsThatAreWrong(t *testing.T) {
	good := clusterautoscaler.Settings{Chooser: chooser(t), TLS: &tls.Config{MinVersion: tls.VersionTLS12}}
	for want, change := range map[string]func(*clusterautoscaler.Settings){
		"chooser: must be set":                              func(s *clusterautoscaler.Settings) { s.Chooser = nil },
		"tls: must be set, because Cluster Autoscaler":      func(s *clusterautoscaler.Settings) { s.TLS = nil },
		"deadline -1s: must not be negative":                func(s *clusterautoscaler.Settings) { s.Deadline = -time.Second },
		"stop after -1s: must not be negative":              func(s *clusterautoscaler.Settings) { s.StopAfter = -time.Second },
		"maximum of -1 bytes of a message: must not be neg": func(s *clusterautoscaler.Settings) { s.MaxMessageBytes = -1 },
		"maximum of -1 choices: must not be negative":       func(s *clusterautoscaler.Settings) { s.MaxChoices = -1 },
	} {
		s := good
		change(&s)
		_, err := clusterautoscaler.NewServer(s)
		assert.ErrorContains(t, err, want)
	}
}
