package duel

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// fixture has two pools, one of more weight, that sell a small machine in three zones.
func fixture(pods ...*corev1.Pod) scheduling.Problem {
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("heavy", st.Weight(5)), st.NodePool("light", st.Limit(st.Cores(4)))},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)),
			st.OnDemand("z1", st.Cents(10)), st.OnDemand("z2", st.Cents(10)), st.OnDemand("z3", st.Cents(10)))),
		Pods: pods,
	}
}

func machine(p scheduling.Problem, pool string, zone int, pods ...int) peer.Machine {
	t, _ := p.Catalog.Get("m")
	m := peer.Machine{NodePool: pool, InstanceType: "m", Offering: t.Offerings[zone]}
	for _, i := range pods {
		m.Pods = append(m.Pods, p.Pods[i])
	}
	return m
}

func TestBroken(t *testing.T) {
	core := st.Requests(st.Cores(1))
	web := []st.PodOption{core, st.Label("app", "web")}
	spread := append([]st.PodOption{st.Spread(corev1.LabelTopologyZone)}, web...)
	apart := append([]st.PodOption{st.Apart(corev1.LabelHostname)}, web...)
	near := append([]st.PodOption{st.Near(corev1.LabelTopologyZone)}, web...)
	for name, tc := range map[string]struct {
		pods     []*corev1.Pod
		machines func(p scheduling.Problem) []peer.Machine
		want     []verify.Code
	}{
		"nothing": {st.Pods(2, "a", core), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1)}
		}, nil},
		"pods that stay out": {st.Pods(2, "a", core), func(scheduling.Problem) []peer.Machine { return nil }, nil},
		"too small": {st.Pods(3, "a", core), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1, 2)}
		}, []verify.Code{verify.CodeResources}},
		"too many": {st.Pods(6, "a", core), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "light", 0, 0, 1), machine(p, "light", 1, 2, 3), machine(p, "light", 2, 4, 5)}
		}, []verify.Code{verify.CodeLimits, verify.CodeWeightIgnored}},
		"spread": {st.Pods(4, "a", spread...), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1), machine(p, "heavy", 0, 2), machine(p, "heavy", 1, 3)}
		}, []verify.Code{verify.CodeTopologySpread}},
		"apart": {st.Pods(2, "a", apart...), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1)}
		}, []verify.Code{verify.CodePodAntiAffinity}},
		"near": {st.Pods(2, "a", near...), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0), machine(p, "heavy", 1, 1)}
		}, []verify.Code{verify.CodePodAffinity}},
		"kept": {append(st.Pods(2, "a", spread...), st.Pods(2, "b", near...)...), func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 2), machine(p, "heavy", 1, 1), machine(p, "heavy", 0, 3)}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := fixture(tc.pods...)
			got := Broken(p, peer.Outcome{Machines: tc.machines(p)}, Settings{}.solver())
			var codes []verify.Code
			for _, c := range verify.Codes() {
				if text, ok := got[c]; ok {
					codes = append(codes, c)
					assert.NotEmpty(t, text)
				}
			}
			assert.ElementsMatch(t, tc.want, codes, "%v", got)
		})
	}
}

func TestVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		bout   Bout
		wishes bool
		want   Verdict
	}{
		"same":                {Bout{OurPrice: 1, TheirPrice: 1}, false, Same},
		"cheaper":             {Bout{OurPrice: 1, TheirPrice: 2}, false, Cheaper},
		"dearer":              {Bout{OurPrice: 2, TheirPrice: 1}, false, Dearer},
		"a matter of taste":   {Bout{OurPrice: 2, TheirPrice: 1}, true, Same},
		"more":                {Bout{OurPrice: 2, TheirPrice: 1, Won: []string{"a"}, Lead: 1}, false, More},
		"fewer":               {Bout{OurPrice: 1, TheirPrice: 2, Lost: []string{"a"}, Lead: -1}, false, Fewer},
		"others":              {Bout{Won: []string{"a", "b"}, Lost: []string{"c"}, Lead: 1}, false, Others},
		"others, as many":     {Bout{Won: []string{"a"}, Lost: []string{"c"}}, false, Others},
		"others, but fewer":   {Bout{Won: []string{"a"}, Lost: []string{"c", "d"}, Lead: -1}, false, Fewer},
		"dearer by the rules": {Bout{OurPrice: 2, TheirPrice: 1, Broken: map[verify.Code]string{verify.CodeLimits: "x"}}, false, Unfair},
		"fewer by the rules":  {Bout{Lost: []string{"a"}, Lead: -1, Broken: map[verify.Code]string{verify.CodeLimits: "x"}}, true, Unfair},
		"dearer in one order": {Bout{OurPrice: 2, TheirPrice: 1, Unlucky: "x"}, false, Lucky},
		"fewer in one order":  {Bout{Lost: []string{"a"}, Lead: -1, Unlucky: "x"}, true, Lucky},
		"fewer by the rules, in one order": {
			Bout{Lost: []string{"a"}, Lead: -1, Unlucky: "x", Broken: map[verify.Code]string{verify.CodeLimits: "x"}}, true, Unfair,
		},
		"dearer for more domains":  {Bout{OurPrice: 2, TheirPrice: 1, Narrow: "x"}, false, Narrower},
		"in one order, and narrow": {Bout{OurPrice: 2, TheirPrice: 1, Unlucky: "x", Narrow: "y"}, false, Lucky},
		"cheaper all the same": {
			Bout{OurPrice: 1, TheirPrice: 2, Broken: map[verify.Code]string{verify.CodeLimits: "x"}}, false, Cheaper,
		},
	} {
		assert.Equal(t, tc.want, tc.bout.Verdict(Settings{Preferences: tc.wishes}), name)
	}
}

func TestDemoted(t *testing.T) {
	p := fixture()
	at := func(pools ...string) map[string]string {
		out := map[string]string{}
		for i, pool := range pools {
			out[string(rune('a'+i))] = pool
		}
		return out
	}
	assert.Equal(t, "b", demoted(p, at("heavy", "heavy"), at("heavy", "light")))
	assert.Empty(t, demoted(p, at("heavy", "light"), at("light", "heavy")), "they are in each other's place")
	assert.Empty(t, demoted(p, at("light", "heavy"), at("heavy", "heavy")), "one more is in the pool of more weight")
	assert.Equal(t, "b", demoted(p, at("light", "heavy", "heavy"), at("heavy", "light", "light")), "two have lost their place and one has won it")
	assert.Empty(t, demoted(p, at("heavy"), at("heavy", "light")), "the pod has no place here")

	pods := []*corev1.Pod{st.Pod("a"), st.Pod("b", st.Tolerate("old", "", corev1.TaintEffectPreferNoSchedule))}
	p = fixture(pods...)
	p.NodePools = append(p.NodePools, st.NodePool("aging", st.Taint("old", "", corev1.TaintEffectPreferNoSchedule)))
	in := func(a, b string) map[string]string { return map[string]string{"default/a": a, "default/b": b} }
	assert.Equal(t, "default/a", demoted(p, in("light", "light"), in("aging", "light")), "a pool of the same weight with a taint against the pod")
	assert.Empty(t, demoted(p, in("aging", "light"), in("light", "light")))
	assert.Empty(t, demoted(p, in("light", "light"), in("light", "aging")), "a taint that the pod tolerates")
}

// Four pods that keep apart by zone: Karpenter leaves one to a later round, we place as
// many as there are zones at once.
func TestFight(t *testing.T) {
	web := []st.PodOption{st.Requests(st.Cores(1)), st.Label("app", "web"), st.Apart(corev1.LabelTopologyZone)}
	b, err := Fight(t.Context(), 7, fixture(st.Pods(3, "a", web...)...), Settings{})
	require.NoError(t, err)
	assert.Equal(t, 3, b.Ours)
	assert.Less(t, b.Theirs, 3)
	assert.Len(t, b.Won, 3-b.Theirs)
	assert.Equal(t, More, b.Verdict(Settings{}))
	assert.Equal(t, uint64(7), b.Seed)
	assert.Positive(t, b.OurTime)
	assert.Positive(t, b.TheirTime)
}

func TestFightOfInvalidProblems(t *testing.T) {
	p := fixture(st.Pod("a"), st.Pod("a"))
	_, err := Fight(t.Context(), 1, p, Settings{})
	assert.ErrorIs(t, err, scheduling.ErrInvalid)
	p = fixture(st.Pod("a"))
	p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(1), st.GiB(1), st.Count(corev1.ResourcePods, 10)))}
	_, err = Fight(t.Context(), 1, p, Settings{})
	assert.Error(t, err)
}

// Of a few random problems, the comparison finds none in which Karpenter places pods by the rules that Plimsoll does
// not place, or places only at a higher price.
func TestRandomProblems(t *testing.T) {
	for _, wishes := range []bool{false, true} {
		s := Settings{Preferences: wishes}
		r, err := Run(t.Context(), 100, 40, s)
		require.NoError(t, err)
		require.Len(t, r.Bouts, 40)
		assert.Greater(t, len(r.with(More, Cheaper)), 10)
		for _, b := range r.Beaten() {
			t.Errorf("%d, %s: lost %v", b.Seed, b.Verdict(s), b.Lost)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, 1, 3, Settings{})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestReport(t *testing.T) {
	cents := offerings.MustPrice("0.01")
	r := &Report{Bouts: []*Bout{
		{Seed: 1, Pods: 5, Ours: 5, Theirs: 3, Won: []string{"a", "b"}, Lead: 2, OurPrice: 3 * cents, TheirPrice: cents},
		{Seed: 2, Pods: 4, Ours: 4, Theirs: 4, OurPrice: 2 * cents, TheirPrice: 3 * cents, Broken: map[verify.Code]string{verify.CodeLimits: "a | b"}},
		{Seed: 3, Pods: 4, Ours: 3, Theirs: 4, Lost: []string{"a"}, Lead: -1, OurPrice: cents, TheirPrice: cents, Broken: map[verify.Code]string{verify.CodeLimits: "c"}},
		{Seed: 4, Pods: 4, Ours: 4, Theirs: 4, OurPrice: 2 * cents, TheirPrice: cents},
		{Seed: 5, Pods: 4, Ours: 3, Theirs: 4, Lost: []string{"a"}, Lead: -1, OurPrice: cents, TheirPrice: cents, Unlucky: "e"},
	}}
	var b strings.Builder
	require.NoError(t, r.Write(&b))
	for _, want := range []string{
		"| verdict on 5 problems | number |",
		"| more pods | 1 |\n| cheaper | 1 |\n| same | 0 |\n| other pods, no fewer | 0 |\n| beaten against the rules | 1 |\n| binds in some orders only | 1 |\n| leaves domains empty | 0 |\n| more expensive | 1 |\n| fewer pods | 0 |\n",
		"| pods placed, of 21 | 19 | 19 |\n",
		"| $/h where both place the same pods | 0.040 | 0.040 |\n",
		"| limits | 2 | 2: a \\| b |\n",
		"against the rules (seed: pods placed by plimsoll and karpenter, of all; $/h):\n\n- 3: 3 and 4 of 4; 0.01 and 0.01; limits\n",
		"in the right order (seed: pods placed by plimsoll and karpenter, of all; $/h):\n\n- 5: 3 and 4 of 4; 0.01 and 0.01; e\n",
		"plimsoll places more (seed: pods placed by plimsoll and karpenter, of all; $/h):\n\n- 1: 5 and 3 of 5; 0.03 and 0.01\n",
		"pays more for the same pods (seed: pods placed by plimsoll and karpenter, of all; $/h):\n\n- 4: 4 and 4 of 4; 0.02 and 0.01\n",
	} {
		assert.Contains(t, b.String(), want)
	}
	assert.NotContains(t, b.String(), "that plimsoll does not")
	assert.Len(t, r.Beaten(), 1)
	assert.Error(t, r.Write(full{}))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }
