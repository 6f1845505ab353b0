package shadow

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter/shadow/internal/replay"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Karpenter launches two nodes for pods that fit on one cheaper node. The difference counts while its nodes run.
func TestLaunch(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	b.pass(time.Second)
	pods := w.Pending("web", 2, 1500)
	w.Now = w.Now.Add(3 * time.Second)
	one, two := w.Claim("general"), w.Claim("general")
	b.pass(5 * time.Second)
	require.Empty(t, b.decisions, "the nodes have not registered")
	w.Bind(w.Join(one, "m.medium"), pods[0])
	w.Bind(w.Join(two, "m.medium"), pods[1])
	b.pass(time.Second)
	d := b.only()
	require.Equal(t, OutcomeCompared, d.Outcome, d.Message)
	require.Equal(t, CauseLaunch, d.Cause)
	require.Equal(t, 2, d.Pods)
	require.Equal(t, st.Cents(80), d.Karpenter.PerHour())
	require.Equal(t, st.Cents(40), d.Plimsoll.PerHour())
	require.Equal(t, st.Cents(40), d.SavedPerHour())
	require.Equal(t, "m.medium", d.Plimsoll.Launched[0].InstanceType)
	key := Key{"general", CauseLaunch}
	require.InDelta(t, 0.4*730, func() float64 { t := b.Totals()[key]; return t.SavedPerMonth() }(), 1e-9)

	w.Now = w.Now.Add(5 * time.Minute)
	b.pass(time.Second)
	saved := b.Totals()[key].Saved
	require.InDelta(t, 0.4*5/60, saved, 0.001)
	w.End(one, w.Nodes["node-"+two.Name])
	b.pass(time.Second)
	require.InDelta(t, 0.2, b.Totals()[key].SavedPerHour, 1e-9, "half of the price still runs")
	w.End(two, nil)
	b.pass(time.Second)
	require.Zero(t, b.Totals()[key].SavedPerHour)
	require.Empty(t, b.decisions, "deletion without a reason of Karpenter's is no decision")
}

// Karpenter replaces a node with one that is dearer than need be. The replacement is part of the decision, and the
// cluster before it has neither the taint nor the replacement.
func TestConsolidation(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	pods := w.Pending("web", 1, 1500)
	old := w.Claim("general")
	w.Bind(w.Join(old, "m.xlarge"), pods...)
	b.pass(time.Second)
	require.Empty(t, b.decisions, "what is there at the start is no decision")

	w.Now = w.Now.Add(time.Hour)
	w.Mark(old, "Underutilized")
	replacement := w.Claim("general")
	b.pass(3 * time.Second)
	to := w.Join(replacement, "m.large")
	b.pass(time.Second)
	require.Empty(t, b.decisions, "the removed NodeClaim is not deleted")
	w.End(old, to)
	b.pass(time.Second)
	d := b.only()
	require.Equal(t, OutcomeCompared, d.Outcome, d.Message)
	require.Equal(t, CauseConsolidation, d.Cause)
	require.Equal(t, -st.Cents(80), d.Karpenter.PerHour())
	require.Equal(t, -st.Cents(140), d.Plimsoll.PerHour())
	require.Equal(t, st.Cents(60), d.SavedPerHour())
	require.Equal(t, 1, d.Pods)
}

// A removal that Plimsoll would not have made counts against it until Karpenter launches a node again.
func TestRemovalThatPlimsollWouldNotMake(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	w.Dress = func(pod *corev1.Pod) { pod.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"} }
	pods := w.Pending("web", 1, 1500)
	old := w.Claim("general")
	w.Bind(w.Join(old, "m.small"), pods...)
	b.pass(time.Second)
	w.Now = w.Now.Add(time.Hour)
	w.Mark(old, "Underutilized")
	b.pass(3 * time.Second)
	w.End(old, nil)
	b.pass(time.Second)
	d := b.only()
	require.Equal(t, -st.Cents(20), d.SavedPerHour())
	require.InDelta(t, -0.2, b.Totals()[Key{"general", CauseConsolidation}].SavedPerHour, 1e-9)
	w.Now = w.Now.Add(5 * time.Minute)
	b.pass(time.Second)
	require.InDelta(t, 0.2*5/60, b.Totals()[Key{"general", CauseConsolidation}].Lost, 0.001)
	w.Claim("general")
	b.pass(time.Second)
	require.Zero(t, b.Totals()[Key{"general", CauseConsolidation}].SavedPerHour)
}

// Decisions that cannot be compared are told, and count nowhere.
func TestNotCompared(t *testing.T) {
	for name, x := range map[string]struct {
		play func(*replay.World, *manifest.NodeClaim, []*corev1.Pod)
		want Outcome
		says string
	}{
		"a type that is not in the catalog": {func(w *replay.World, c *manifest.NodeClaim, pods []*corev1.Pod) {
			w.Bind(w.Join(c, "x9.huge"), pods...)
		}, OutcomeUnpriced, "x9.huge"},
		"deleted before it registered": {func(w *replay.World, c *manifest.NodeClaim, _ []*corev1.Pod) {
			w.End(c, nil)
		}, OutcomeUnregistered, "has not registered"},
		"never registers": {func(w *replay.World, _ *manifest.NodeClaim, _ []*corev1.Pod) {
			w.Now = w.Now.Add(31 * time.Minute)
		}, OutcomeUnregistered, "has not registered"},
	} {
		t.Run(name, func(t *testing.T) {
			w := replay.NewWorld(replay.Machines())
			b := newBeside(t, w)
			b.follow()
			b.pass(time.Second)
			pods := w.Pending("web", 1, 1500)
			c := w.Claim("general")
			b.pass(3 * time.Second)
			x.play(w, c, pods)
			b.pass(time.Second)
			d := b.only()
			require.Equal(t, x.want, d.Outcome, d.Message)
			require.Contains(t, d.Message, x.says)
			require.Empty(t, b.Totals())
			require.Equal(t, 1, b.Outcomes(CauseLaunch)[x.want])
		})
	}
	t.Run("called off", func(t *testing.T) {
		w := replay.NewWorld(replay.Machines())
		b := newBeside(t, w)
		b.follow()
		c := w.Claim("general")
		w.Join(c, "m.large")
		b.pass(time.Second)
		w.Mark(c, "Empty")
		b.pass(3 * time.Second)
		w.Change(c, func(c *manifest.NodeClaim) { c.Status.Conditions = nil })
		b.pass(time.Second)
		require.Equal(t, OutcomeAbandoned, b.only().Outcome)
		w.Mark(c, "Empty")
		b.pass(3 * time.Second)
		w.End(c, nil)
		b.pass(time.Second)
		d := b.only()
		require.Equal(t, OutcomeCompared, d.Outcome, "the second attempt is a decision of its own")
		require.Zero(t, d.SavedPerHour(), "Plimsoll removes an empty node, too")
	})
}

// Duplicate events, events in another order, and events that come after the whole decision change nothing.
func TestEventsOutOfOrder(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	b.pass(time.Second)
	var held []metav1.Object
	put := w.Put
	w.Put = func(o metav1.Object) { held = append(held, o) }
	pods := w.Pending("web", 2, 1500)
	c := w.Claim("general")
	w.Bind(w.Join(c, "m.large"), pods...)
	// The watches were cut. What comes then is the last state of each object, in any order, and some of it twice.
	for i := len(held) - 1; i >= 0; i-- {
		last := held[i]
		for _, o := range held[i+1:] {
			if o.GetUID() == last.GetUID() {
				last = o
			}
		}
		put(last)
		if i%2 == 0 {
			put(last)
		}
	}
	b.pass(4 * time.Second)
	d := b.only()
	require.Equal(t, OutcomeCompared, d.Outcome, d.Message)
	require.Equal(t, 2, d.Pods)
	require.Equal(t, st.Cents(80), d.Karpenter.PerHour())
	require.Equal(t, st.Cents(40), d.Plimsoll.PerHour(), "the pods are pending before the decision, not on Karpenter's node")
	for _, o := range held[len(held)-2:] {
		put(o)
	}
	b.pass(4 * time.Second)
	require.Empty(t, b.decisions)
}

// Room on nodes that are starting belongs to pods of the nodes that they replace, for later decisions as well.
func TestRoomOfReplacementsIsTaken(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	pods := w.Pending("web", 1, 1500)
	old := w.Claim("general")
	w.Bind(w.Join(old, "m.large"), pods...)
	b.pass(time.Second)
	w.Now = w.Now.Add(time.Hour)
	w.Mark(old, "Underutilized")
	replacement := w.Claim("general")
	b.pass(3 * time.Second)
	w.Join(replacement, "m.small")
	later := w.Pending("web", 1, 1500)
	b.pass(time.Second)
	c := w.Claim("general")
	b.pass(3 * time.Second)
	w.Bind(w.Join(c, "m.small"), later...)
	b.pass(time.Second)
	d := b.only()
	require.Equal(t, CauseLaunch, d.Cause)
	require.Equal(t, st.Cents(20), d.Plimsoll.PerHour(), "the replacement has no room")
	require.Zero(t, d.SavedPerHour())
}

// A shadow that starts in the middle takes the cluster as it is, and counts no decision of the time before.
func TestRestart(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	b.pass(time.Second)
	pods := w.Pending("web", 2, 1500)
	c := w.Claim("general")
	b.pass(3 * time.Second)
	again := newBeside(t, w)
	again.follow()
	for _, pod := range w.Pods {
		w.Put(pod)
	}
	w.Put(w.Claims[c.Name])
	again.pass(time.Second)
	w.Bind(w.Join(c, "m.large"), pods...)
	again.pass(3 * time.Second)
	require.Empty(t, again.decisions)
	next := w.Pending("web", 1, 7000)
	one := w.Claim("general")
	again.pass(3 * time.Second)
	w.Bind(w.Join(one, "m.large"), next...)
	again.pass(time.Second)
	require.Equal(t, OutcomeCompared, again.only().Outcome)
	require.Equal(t, 1, again.Outcomes(CauseLaunch)[OutcomeCompared])
}

// The figures of the cluster are in the metrics from the first plan on.
func TestClusterAndMetrics(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.opts.ConsolidateEvery = time.Minute
	b.follow()
	pods := w.Pending("web", 1, 1500)
	w.Bind(w.Join(w.Claim("general"), "m.xlarge"), pods...)
	b.pass(time.Second)
	require.Equal(t, st.Cents(160), b.Standing().Now)
	require.Equal(t, st.Cents(20), b.Standing().Consolidated)
	require.LessOrEqual(t, b.Standing().LowerBound, st.Cents(20))
	var text strings.Builder
	require.NoError(t, b.WriteMetrics(&text))
	for _, line := range []string{
		`plimsoll_shadow_decisions_total{cause="launch",outcome="compared"} 0`,
		`plimsoll_shadow_cluster_dollars_per_hour{state="now"} 1.6`,
		`plimsoll_shadow_cluster_dollars_per_hour{state="consolidated"} 0.2`,
	} {
		require.Contains(t, text.String(), line+"\n")
	}
	require.Equal(t, 1, b.plans)
}

// Warnings of the plans for decisions are logged once.
func TestWarnings(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	var log bytes.Buffer
	b.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	b.follow()
	idle := w.Pool("idle")
	idle.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["requirements"] = []any{
		map[string]any{"key": corev1.LabelTopologyZone, "operator": "In", "values": []any{"moon-1a"}},
	}
	require.NoError(t, b.PutSetting(idle))
	b.pass(time.Second)
	for range 2 {
		pods := w.Pending("web", 1, 1500)
		w.Now = w.Now.Add(3 * time.Second)
		c := w.Claim("general")
		b.pass(3 * time.Second)
		w.Bind(w.Join(c, "m.small"), pods...)
		b.pass(time.Second)
		require.Equal(t, OutcomeCompared, b.only().Outcome)
	}
	require.Equal(t, 1, strings.Count(log.String(), "object=NodePool/idle"), &log)
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), &log)
}

// A malformed NodePool keeps its last state.
func TestMalformedSetting(t *testing.T) {
	w := replay.NewWorld(replay.Machines())
	b := newBeside(t, w)
	b.follow()
	b.pass(time.Second)
	bad := w.Pool("general")
	bad.Object["spec"].(map[string]any)["weight"] = "many"
	require.ErrorContains(t, b.PutSetting(bad), "weight")
	pods := w.Pending("web", 1, 1500)
	c := w.Claim("general")
	b.pass(3 * time.Second)
	w.Bind(w.Join(c, "m.small"), pods...)
	b.pass(time.Second)
	require.Equal(t, OutcomeCompared, b.only().Outcome)
}
