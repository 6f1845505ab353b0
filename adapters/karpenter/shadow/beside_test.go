package shadow

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter/shadow/internal/replay"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// beside is a shadow that is told of the world directly, with its decisions. Every plan must pass package verify.
type beside struct {
	*Shadow
	t         testing.TB
	w         *replay.World
	decisions []Decision
	plans     int
}

func verified(o *Options, count func()) {
	o.Planned = func(policy scheduling.Policy, p scheduling.Problem, plan *scheduling.Plan) error {
		count()
		return verify.Checker{Policy: policy, SkipRefusals: true}.Plan(p, plan)
	}
	o.Consolidated = func(planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
		count()
		return verify.StepsChecker{Planner: planner}.Steps(c, plan)
	}
}

func newBeside(t testing.TB, w *replay.World) *beside {
	b := &beside{t: t, w: w}
	o := Options{
		Catalog: w.Catalog, ConsolidateEvery: -1,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: func() time.Time { return w.Now },
		Decided: func(d Decision) { b.decisions = append(b.decisions, d) },
	}
	verified(&o, func() { b.plans++ })
	var err error
	b.Shadow, err = New(o)
	require.NoError(t, err)
	require.Equal(t, scheduling.PlacementFree, b.opts.Policy.Placement, "kube-scheduler binds the pods")
	return b
}

// follow makes the world tell the shadow.
func (b *beside) follow() {
	b.w.Put = func(o metav1.Object) { require.NoError(b.t, b.Upsert(o)) }
	b.w.Remove = func(o metav1.Object) { require.NoError(b.t, b.Delete(o)) }
	require.NoError(b.t, b.PutSetting(b.w.Pool("general")))
}

// pass lets time pass, round after round, with the plans that rounds ask for.
func (b *beside) pass(d time.Duration) {
	for range int(d / time.Second) {
		b.w.Now = b.w.Now.Add(time.Second)
		b.Round()
		for {
			more, err := b.Plan(b.t.Context())
			require.NoError(b.t, err)
			if !more {
				break
			}
		}
	}
	b.Round()
}

// only is the single decision since the last call.
func (b *beside) only() Decision {
	b.t.Helper()
	require.Len(b.t, b.decisions, 1)
	d := b.decisions[0]
	b.decisions = nil
	return d
}
