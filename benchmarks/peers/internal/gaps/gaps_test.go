package gaps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/packing"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func instance(name string, pods int, tied bool) corpus.Instance {
	return corpus.Instance{Name: name, Tied: tied, Problem: scheduling.Problem{
		Pods:      st.Pods(pods, "pod", st.Requests(st.Cores(1))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(st.Type("small", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("z", st.Cents(20))),
			st.Type("large", st.Capacity(st.Cores(40), st.GiB(80)), st.OnDemand("z", st.Cents(180)))),
	}}
}

func result(who string, placed int, price, bound string, gap float64) peer.Result {
	return peer.Result{Instance: "i", Peer: who, Pods: 9, Placed: placed, Price: offerings.MustPrice(price), Bound: offerings.MustPrice(bound), Gap: gap}
}

// cheat is a planner that pays less than anybody can.
type cheat struct {
	machines func(p scheduling.Problem) []peer.Machine
}

type cheating struct{ machines []peer.Machine }

func (cheat) Name() string { return "cheat" }

func (c cheat) Load(p scheduling.Problem) (peer.Run, error) {
	if c.machines == nil {
		return nil, errors.New("too hard")
	}
	return cheating{c.machines(p)}, nil
}

func (cheating) Solve(context.Context) error      { return nil }
func (c cheating) Outcome() (peer.Outcome, error) { return peer.Outcome{Machines: c.machines}, nil }

func ours() []peer.Peer {
	var out []peer.Peer
	for _, p := range planner.All() {
		out = append(out, p)
	}
	return out
}

func solve(t *testing.T, in corpus.Instance, peers ...peer.Peer) *Finding {
	t.Helper()
	answers, err := Ask(t.Context(), in, append(ours(), peers...), peer.Options{})
	require.NoError(t, err)
	return Compare(in, answers)
}

func TestCompare(t *testing.T) {
	f := solve(t, instance("x/y/z/20", 20, false), packing.Peer{}, cheat{})
	assert.Len(t, f.Ours, 3)
	require.Len(t, f.Others, 1, "who cannot express the problem is left out")
	assert.Equal(t, "first-fit one type", f.Others[0].Peer)
	assert.Empty(t, f.Losses)
	row := Row(f)
	assert.True(t, strings.HasPrefix(row, "| x/y/z/20 |"), row)
	assert.NotContains(t, row, "says")
	assert.Contains(t, row, "| first-fit one type | ")
	assert.Equal(t, strings.Count(Header(), "|"), 2*strings.Count(row, "|"))
}

// A planner that is cheaper is found out, at every effort, and so is one that is cheaper
// because it breaks a rule.
func TestCompareFindsLosses(t *testing.T) {
	in := instance("x", 3, false)
	in.Problem.Pods[0].Spec.Affinity = st.Pod("a", st.Label("b", "c"), st.Apart("kubernetes.io/hostname")).Spec.Affinity
	in.Problem.Pods[1].Labels = map[string]string{"b": "c"}
	one := cheat{func(p scheduling.Problem) []peer.Machine {
		it, _ := p.Catalog.Get("small")
		return []peer.Machine{{NodePool: "default", InstanceType: "small", Offering: it.Offerings[0], Pods: p.Pods}}
	}}
	f := solve(t, in, one)
	require.Len(t, f.Losses, 3)
	assert.Equal(t, []string{"pod-anti-affinity"}, f.Losses[0].Broken)
	assert.Contains(t, f.Losses[0].String(), "x: cheat places 3 for 0.2, plimsoll fast 3 for 0.4, against the rules (pod-anti-affinity)")

	var text strings.Builder
	faults := Summary(&text, []*Finding{f})
	assert.Empty(t, faults)
	assert.Contains(t, text.String(), "against the rules: 3\n\n- x: cheat")

	for i := range f.Losses {
		f.Losses[i].Broken = nil
	}
	faults = Summary(&text, []*Finding{f})
	assert.Len(t, faults, 3)
}

// findings has an instance for each gap of the default effort.
func findings(pods int, tied bool, gaps ...float64) []*Finding {
	var out []*Finding
	for i, g := range gaps {
		r := result("plimsoll", 9, fmt.Sprintf("%.4f", 1+g), "1", g)
		r.Instance = fmt.Sprint(i)
		out = append(out, &Finding{Instance: instance(r.Instance, pods, tied), Ours: []peer.Result{r}})
	}
	return out
}

func TestSummaryHoldsTheLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		findings []*Finding
		want     []string
	}{
		"all is well":    {findings(1000, false, 0.002, 0.009, 0.001), nil},
		"small ones":     {findings(999, false, 0.5), nil},
		"one is bad":     {findings(1000, false, 0.002, 0.011, 0.001), []string{"plimsoll: 1 of 3 instances without ties are more than 1.00 % above their bound, the worst, 1, by 1.10 %"}},
		"half are so-so": {findings(1000, false, 0.001, 0.006), []string{"plimsoll: half of the instances without ties are more than 0.35 % above their bound, which is over 0.30 %"}},
		"ties may more":  {findings(1000, true, 0.03), nil},
		"ties are bad":   {findings(1000, true, 0.031), []string{"plimsoll: 1 of 1 instances with ties are more than 3.00 % above their bound, the worst, 0, by 3.10 %"}},
	} {
		t.Run(name, func(t *testing.T) {
			faults := Summary(&strings.Builder{}, tc.findings)
			assert.Equal(t, tc.want, faults)
		})
	}
}

// That more effort does not pay is told, and breaks no promise.
func TestMoreEffortThatCostsMore(t *testing.T) {
	f := &Finding{Instance: instance("n", 1, false), Ours: []peer.Result{
		result("plimsoll fast", 9, "2", "1", 1), result("plimsoll", 9, "2.5", "1", 1.5), result("plimsoll thorough", 9, "2.5", "1", 1.5),
	}}
	var b strings.Builder
	assert.Empty(t, Summary(&b, []*Finding{f}))
	assert.Contains(t, b.String(), "More effort costs more: 1\n\n- n: plimsoll costs 2.5, plimsoll fast 2\n")
}

// A plan that says another gap than the one that its machines and its proof have is
// told on.
func TestGapsThatAreNotAsReported(t *testing.T) {
	f := findings(1000, false, 0.002)
	f[0].Ours[0].Gap = 0.001
	assert.Contains(t, Row(f[0]), "0.20 % (says 0.10 %)")
	faults := Summary(&strings.Builder{}, f)
	assert.Equal(t, []string{"plimsoll: 1 gaps without ties are not what the plan says"}, faults)
}
