package instancetypes_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// counting counts how often each pool was asked for, and fails while told to.
type counting struct {
	mu    sync.Mutex
	asked map[string]int
	fail  error
}

func (s *counting) InstanceTypes(_ context.Context, pool string) ([]*instancetypes.InstanceType, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[pool]++
	if s.fail != nil {
		return nil, s.fail
	}
	return []*instancetypes.InstanceType{machine("m", "cpu=1 memory=1Gi", "")}, nil
}

func TestCached(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	src := &counting{}
	cached := &instancetypes.Cached{Source: src, TTL: time.Minute, Now: func() time.Time { return now }}
	ask := func(pool string) {
		t.Helper()
		types, err := cached.InstanceTypes(t.Context(), pool)
		require.NoError(t, err)
		require.Len(t, types, 1)
	}
	ask("a")
	ask("a")
	assert.Equal(t, 1, src.asked["a"], "the second answer is remembered")
	ask("b")
	assert.Equal(t, 1, src.asked["b"], "pools are remembered apart")
	now = now.Add(59 * time.Second)
	ask("a")
	assert.Equal(t, 1, src.asked["a"])
	now = now.Add(time.Second)
	ask("a")
	assert.Equal(t, 2, src.asked["a"], "an answer lives shorter than its TTL")
	cached.Forget()
	ask("a")
	assert.Equal(t, 3, src.asked["a"])
}

func TestCachedDoesNotRememberErrors(t *testing.T) {
	down := errors.New("API is down")
	src := &counting{}
	now := time.Unix(0, 0)
	cached := &instancetypes.Cached{Source: src, TTL: time.Minute, Now: func() time.Time { return now }}
	_, err := cached.InstanceTypes(t.Context(), "a")
	require.NoError(t, err)
	now = now.Add(time.Hour)
	src.fail = down
	_, err = cached.InstanceTypes(t.Context(), "a")
	require.ErrorIs(t, err, down, "an answer that has grown old is not given out instead")
	src.fail = nil
	_, err = cached.InstanceTypes(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, 3, src.asked["a"])
}

func TestCachedNeedsSourceAndClock(t *testing.T) {
	for _, c := range []*instancetypes.Cached{{}, {Source: fixed()}, {Now: time.Now}} {
		_, err := c.InstanceTypes(t.Context(), "")
		assert.ErrorContains(t, err, "Source and Now are required")
	}
}

func TestCachedAsksOnceForManyWaiting(t *testing.T) {
	var calls atomic.Int32
	release := make(chan struct{})
	src := instancetypes.SourceFunc(func(context.Context, string) ([]*instancetypes.InstanceType, error) {
		calls.Add(1)
		<-release
		return nil, nil
	})
	cached := &instancetypes.Cached{Source: src, Now: func() time.Time { return time.Unix(0, 0) }}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := cached.InstanceTypes(context.Background(), "a")
			assert.NoError(t, err)
		})
	}
	for calls.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	// One that waits can be called off, and leaves the others alone.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := cached.InstanceTypes(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	wg.Wait()
	assert.Equal(t, int32(1), calls.Load())
}
