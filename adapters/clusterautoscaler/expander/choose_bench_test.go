package expander_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/grpcplugin"
)

// BenchmarkChoose is one choice among 50 groups for 10,000 pods, which the reader has read: each pod fits 10 groups.
func BenchmarkChoose(b *testing.B) {
	prices, err := expander.NewPrices(nil, nil)
	require.NoError(b, err)
	c := expander.Chooser{Prices: prices}
	r := autoscaler.Sample(1, 50, 10_000)
	for b.Loop() {
		_, err := c.Choose(b.Context(), r)
		require.NoError(b, err)
	}
}

// BenchmarkRead reads the message of the same request.
func BenchmarkRead(b *testing.B) {
	message, err := autoscaler.Marshal(autoscaler.Sample(1, 50, 10_000), autoscaler.Bytes)
	require.NoError(b, err)
	b.SetBytes(int64(len(message)))
	var frames mem.BufferSlice
	for frame := range slices.Chunk(message, 16<<10) { // as HTTP/2 sends it
		frames = append(frames, mem.SliceBuffer(frame))
	}
	for b.Loop() {
		_, err := grpcplugin.Read(frames)
		require.NoError(b, err)
	}
}
