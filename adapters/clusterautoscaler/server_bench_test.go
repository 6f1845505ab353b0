package clusterautoscaler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/autoscaler"
)

// BenchmarkBestOptions asks about 50 groups and 10,000 pods that no request had before, one request after the other, over
// TLS on this machine. Each pod fits 10 groups, so that a message has 100,000 pods. It reports the 99th percentile from the
// call of the client to the answer.
func BenchmarkBestOptions(b *testing.B) { benchmarkOptions(b, chooser(b)) }

// BenchmarkFirstOption is BenchmarkBestOptions with a server that reads the request, and answers with its first option.
// Without the time of BenchmarkRead it is the time that sending and receiving take.
func BenchmarkFirstOption(b *testing.B) {
	benchmarkOptions(b, chooserFunc(func(_ context.Context, r expander.Request) (expander.Choice, error) {
		return expander.Choice{Best: []expander.Scored{{Option: r.Options[0]}}}, nil
	}))
}

func benchmarkOptions(b *testing.B, c clusterautoscaler.Chooser) {
	b.Helper()
	r := serve(b, clusterautoscaler.Settings{Chooser: c}, "tcp", anyPort)
	conn := r.dial(b)
	var messages [][]byte
	for seed := range uint64(4) {
		message, err := autoscaler.Marshal(autoscaler.Sample(seed, 50, 10_000), autoscaler.Bytes)
		require.NoError(b, err)
		messages = append(messages, message)
	}
	b.SetBytes(int64(len(messages[0])))
	_, err := autoscaler.BestOptions(b.Context(), conn, messages[0]) // reads the catalog
	require.NoError(b, err)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		_, err := autoscaler.BestOptions(b.Context(), conn, messages[len(took)%len(messages)])
		require.NoError(b, err)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
}
