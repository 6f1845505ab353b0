package peer

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// puppet is a planner whose answers a test decides.
type puppet struct {
	load    error
	solve   func(ctx context.Context) error
	outcome Outcome
	read    error
	loads   *int
}

func (p puppet) Name() string { return "puppet" }

func (p puppet) Load(scheduling.Problem) (Run, error) {
	if p.loads != nil {
		*p.loads++
	}
	return p, p.load
}
func (p puppet) Solve(ctx context.Context) error {
	if p.solve != nil {
		return p.solve(ctx)
	}
	return nil
}
func (p puppet) Outcome() (Outcome, error) { return p.outcome, p.read }

func TestMeasure(t *testing.T) {
	p := fixture()
	var hold []byte
	loads := 0
	who := puppet{
		loads:   &loads,
		outcome: Outcome{Machines: []Machine{machine(p, p.Pods[0])}, Bound: st.Cents(3)},
		solve: func(context.Context) error {
			hold = make([]byte, 5<<20)
			time.Sleep(10 * time.Millisecond)
			return nil
		},
	}
	r, outcome, err := Measure(t.Context(), who, "inst", p, Options{Repeat: 2})
	require.NoError(t, err)
	assert.Len(t, hold, 5<<20)
	assert.Equal(t, 2, loads)
	assert.Len(t, outcome.Machines, 1)
	assert.Equal(t, "inst puppet", r.Instance+" "+r.Peer)
	assert.Equal(t, []int{3, 1, 1}, []int{r.Pods, r.Placed, r.Nodes})
	assert.Equal(t, st.Cents(10), r.Price)
	assert.Equal(t, st.Cents(3), r.Bound)
	assert.GreaterOrEqual(t, r.Elapsed, 10*time.Millisecond)
	assert.GreaterOrEqual(t, r.Allocated, uint64(5<<20))
	assert.Less(t, r.Allocated, uint64(10<<20), "one run counts, not both")
	assert.False(t, r.Late)
}

// A run that ended late is not repeated: it would end late again.
func TestMeasureDoesNotRepeatLateRuns(t *testing.T) {
	loads := 0
	r, _, err := Measure(t.Context(), puppet{loads: &loads, outcome: Outcome{Late: true}}, "i", fixture(), Options{Repeat: 5})
	require.NoError(t, err)
	assert.True(t, r.Late)
	assert.Equal(t, 1, loads)
}

func TestMeasureFails(t *testing.T) {
	broken := errors.New("broken")
	p := fixture()
	for name, who := range map[string]puppet{
		"puppet: load i: broken":                       {load: broken},
		"puppet: solve i: broken":                      {solve: func(context.Context) error { return broken }},
		"puppet: read the outcome of i: broken":        {read: broken},
		"puppet: i: the outcome is wrong: machine 0 (": {outcome: Outcome{Machines: []Machine{machine(p)}}},
	} {
		_, _, err := Measure(t.Context(), who, "i", p, Options{})
		require.ErrorContains(t, err, name)
		var unsupported *UnsupportedError
		assert.Equal(t, who.load != nil, errors.As(err, &unsupported), "only what cannot be loaded is unsupported")
		if who.outcome.Machines == nil {
			assert.ErrorIs(t, err, broken)
		}
	}
}
