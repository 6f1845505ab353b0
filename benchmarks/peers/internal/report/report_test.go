package report

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestPut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb\n<!-- begin: y -->\n<!-- end: y -->\nc\n")
	for range 2 { // the same again changes nothing
		require.NoError(t, Put(file, "x", "\nnew\n"))
		require.NoError(t, Put(file, "y", "more"))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "a\n<!-- begin: x -->\n\nnew\n\n<!-- end: x -->\nb\n<!-- begin: y -->\n\nmore\n\n<!-- end: y -->\nc\n", string(text))
	}
	require.ErrorContains(t, Put(file, "z", ""), "lacks the line <!-- begin: z -->")
	write("<!-- end: x -->\n<!-- begin: x -->\n")
	require.ErrorContains(t, Put(file, "x", ""), "lacks the line <!-- end: x --> after its beginning")
	require.ErrorIs(t, Put(file+".not", "x", ""), os.ErrNotExist)
}

func measured(who string, placed int, price string, elapsed time.Duration, mb uint64) peer.Result {
	return peer.Result{
		Instance: "i", Peer: who, Pods: 20_000, Placed: placed, Nodes: 3, Price: offerings.MustPrice(price),
		Elapsed: elapsed, CPU: elapsed / 2, Allocated: mb * 1e6,
	}
}

func TestTables(t *testing.T) {
	results := []peer.Result{
		measured("karpenter", 20_000, "3", 70*time.Second, 500), measured("plimsoll", 20_000, "2", 200*time.Millisecond, 40), measured("other", 8, "1", time.Second, 1000),
	}
	text := Table(Speed(results, "karpenter"), results, true)
	assert.Equal(t, `| pods | planner | placed | nodes | $/h | time | CPU | allocated | karpenter's time | CPU | allocated | $/h |
|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| 20000 | karpenter | 20000 | 3 | 3.000 | 70 s | 35 s | 500.0 MB | 1 × | 1 × | 1 × | 1 × |
| 20000 | plimsoll | 20000 | 3 | 2.000 | 200 ms | 100 ms | 40.0 MB | 350 × | 350 × | 12.5 × | 1.500 × |
| 20000 | other | 8 of 20000 | 3 | 1.000 | 1 s | 500 ms | 1000.0 MB | 70 × | 70 × | 0.5 × | – |
`, text)
	assert.Contains(t, Table(Speed(results[1:], "karpenter"), results[1:2], false), "| 40.0 MB | – | – | – | – |")
	results[1].Bound, results[1].Gap, results[0].Late = offerings.MustPrice("1.6"), 0.25, true
	results[2].Bound, results[2].Gap = offerings.MustPrice("1"), 0.1
	assert.Equal(t, `| i | karpenter | 20000 | 3 | 3.000 | – | – | stopped at 70 s | 35 s | 500.0 MB | 1.5000 | 350.00 |
| i | plimsoll | 20000 | 3 | 2.000 | – | 25.00 % | 200 ms | 100 ms | 40.0 MB | 1.0000 | 1.00 |
| i | other | 8 of 20000 | 3 | 1.000 | – | 0.00 % (says 10.00 %) | 1 s | 500 ms | 1000.0 MB | – | 5.00 |
`, Table(Comparison(results, "plimsoll"), results, false))
}

func TestSlow(t *testing.T) {
	theirs := measured("karpenter", 9, "3", 70*time.Second, 500)
	for name, tc := range map[string]struct {
		ours peer.Result
		want []string
	}{
		"kept":        {measured("plimsoll fast", 9, "3", 350*time.Millisecond, 64), nil},
		"more placed": {measured("plimsoll fast", 10, "4", 350*time.Millisecond, 64), nil},
		"slow":        {measured("plimsoll fast", 9, "3", 700*time.Millisecond, 64), []string{"i: plimsoll fast is 100 times as fast as karpenter, under 200"}},
		"fat":         {measured("plimsoll fast", 9, "3", 350*time.Millisecond, 65), []string{"i: plimsoll fast allocates 65.0 MB, over 64.0 MB"}},
		"dear":        {measured("plimsoll fast", 9, "3.1", 350*time.Millisecond, 64), []string{"i: plimsoll fast places 9 pods for 3.1, karpenter 9 for 3"}},
		"lazy":        {measured("plimsoll fast", 8, "1", 350*time.Millisecond, 64), []string{"i: plimsoll fast places 8 pods for 1, karpenter 9 for 3"}},
		"default":     {measured("plimsoll", 9, "3", 1400*time.Millisecond, 999), nil},
		"slow, too":   {measured("plimsoll", 9, "3", 2*time.Second, 999), []string{"i: plimsoll is 35 times as fast as karpenter, under 50"}},
		"no promise":  {measured("somebody", 1, "9", time.Hour, 999), nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, Slow([]peer.Result{theirs, tc.ours}, "karpenter")) })
	}
	fat := measured("plimsoll fast", 9, "3", time.Hour, 65)
	assert.Len(t, Slow([]peer.Result{fat}, "karpenter"), 1, "without the standard only memory counts")
	fat.Pods = 5_000
	assert.Empty(t, Slow([]peer.Result{fat}, "karpenter"))
}

// On every axis the number that it is named for grows, and no other.
func TestAxes(t *testing.T) {
	m, err := corpus.EC2("us-east-1")
	require.NoError(t, err)
	count := func(p scheduling.Problem) map[string]int {
		classes, types := map[string]bool{}, 0
		for _, pod := range p.Pods {
			classes[pod.Labels["app"]] = true
		}
		for it := range p.Catalog.All() {
			if strings.ContainsAny(it.Name[:1], "cmr") && it.Labels["kubernetes.io/arch"] == "amd64" && it.Labels["karpenter.k8s.aws/instance-generation"] >= "5" &&
				it.Labels["karpenter.k8s.aws/instance-category"] == it.Name[:1] {
				types++
			}
		}
		return map[string]int{"pods": len(p.Pods), "classes": len(classes), "types": types, "pools": len(p.NodePools)}
	}
	for _, a := range Axes(m, 1, 20) {
		base := count(a.Problem(a.Values[3]))
		assert.Equal(t, a.Values[3], base[a.Name])
		for _, v := range []int{a.Values[2], a.Values[len(a.Values)-1]} {
			p := a.Problem(v)
			require.NoError(t, provisioning.Validate(&p))
			want := maps.Clone(base)
			switch a.Name {
			case "classes":
				v = min(v, len(p.Pods))
			case "pods":
				want["classes"] = min(someClasses, v)
			}
			want[a.Name] = v
			assert.Equal(t, want, count(p), a.Name)
		}
	}
}

func sample(axis string, value int, who string, elapsed time.Duration) Sample {
	return Sample{Value: value, Result: peer.Result{Instance: axis, Peer: who, Pods: value, Elapsed: elapsed}}
}

func TestGrowth(t *testing.T) {
	ms := time.Millisecond
	samples := []Sample{
		sample("pods", 100, "a", 10*ms), sample("pods", 100, "b", 10*ms),
		sample("pods", 200, "a", 21*ms), sample("pods", 200, "b", 20*ms),
		sample("pods", 400, "a", 20*ms), sample("pods", 400, "b", 50*ms),
		sample("pools", 1, "b", 10*ms), sample("pools", 2, "b", 90*ms),
	}
	assert.Equal(t, []string{"b: 100 µs per pod at 200 pods, 125 µs at 400"}, Rising(samples))
	samples[3].CPU = 30 * ms
	table := Growth(samples[:6])
	assert.Contains(t, table, "| number of |  | a: CPU | per pod | gap | b: CPU | per pod | gap |\n")
	assert.Contains(t, table, "\n| pods | 200 | 0 ms | 0 µs | 0.00 % | 30 ms | 150 µs | 0.00 % |\n")
}

func instance(name string, pods int, terms bool) corpus.Instance {
	return corpus.Instance{Name: name, TopologyTerms: terms, Problem: scheduling.Problem{
		Pods:      st.Pods(pods, "pod", st.Requests(st.Cores(1))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   st.MustCatalog(st.Type("small", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("z", st.Cents(20)))),
	}}
}

func result(who string, placed int, price, bound string, gap float64) peer.Result {
	return peer.Result{Instance: "i", Peer: who, Pods: 9, Placed: placed, Price: offerings.MustPrice(price), Bound: offerings.MustPrice(bound), Gap: gap}
}

// A planner that is cheaper is found out, at every effort, and so is one that is cheaper
// because it breaks a rule.
func TestLosses(t *testing.T) {
	in := instance("x", 3, false)
	in.Problem.Pods[0].Spec.Affinity = st.Pod("a", st.Label("b", "c"), st.Apart("kubernetes.io/hostname")).Spec.Affinity
	in.Problem.Pods[1].Labels = map[string]string{"b": "c"}
	it, _ := in.Problem.Catalog.Get("small")
	one := peer.Outcome{Machines: []peer.Machine{{NodePool: "default", InstanceType: "small", Offering: it.Offerings[0], Pods: in.Problem.Pods}}}
	results := []peer.Result{result("plimsoll fast", 3, "0.4", "0.4", 0), result("plimsoll", 3, "0.4", "0.4", 0), result("cheat", 3, "0.2", "0", 0), result("dear", 3, "0.5", "0", 0)}
	f := &Finding{Instance: in, Results: results}
	f.Compare([]peer.Outcome{{}, {}, one, {}})
	assert.Empty(t, f.Losses)
	require.Len(t, f.AgainstRules, 2)
	assert.Equal(t, "x: cheat places 3 for 0.2, plimsoll fast 3 for 0.4, against the rules (pod-anti-affinity)", f.AgainstRules[0])
	text, faults := Summary([]*Finding{f})
	assert.Empty(t, faults)
	assert.Contains(t, text, "against the rules: 2\n\n- x: cheat")

	f = &Finding{Instance: instance("x", 3, false), Results: results}
	one.Machines[0].Pods = f.Instance.Problem.Pods
	f.Compare([]peer.Outcome{{}, {}, one, {}})
	_, faults = Summary([]*Finding{f})
	assert.Len(t, faults, 2)
	assert.Empty(t, f.AgainstRules)
}

// findings has an instance for each gap of the default effort.
func findings(pods int, terms bool, gaps ...float64) []*Finding {
	var out []*Finding
	for i, g := range gaps {
		r := result("plimsoll", 9, fmt.Sprintf("%.4f", 1+g), "1", g)
		r.Instance = fmt.Sprint(i)
		out = append(out, &Finding{Instance: instance(r.Instance, pods, terms), Results: []peer.Result{r}})
	}
	return out
}

func TestSummaryHoldsTheLimits(t *testing.T) {
	unlike := findings(1000, false, 0.002)
	unlike[0].Results[0].Gap = 0.001
	for name, tc := range map[string]struct {
		findings []*Finding
		want     []string
	}{
		"all is well":    {findings(1000, false, 0.002, 0.009, 0.001), nil},
		"small ones":     {findings(999, false, 0.5), nil},
		"one is bad":     {findings(1000, false, 0.002, 0.011, 0.001), []string{"plimsoll: 1 of 3 instances without topology terms are more than 1.00 % above their bound, the worst, 1, by 1.10 %"}},
		"half are so-so": {findings(1000, false, 0.001, 0.006), []string{"plimsoll: half of the instances without topology terms are more than 0.35 % above their bound, which is over 0.30 %"}},
		"terms may more": {findings(1000, true, 0.03), nil},
		"terms are bad":  {findings(1000, true, 0.031), []string{"plimsoll: 1 of 1 instances with topology terms are more than 3.00 % above their bound, the worst, 0, by 3.10 %"}},
		"another gap":    {unlike, []string{"plimsoll: 1 gaps without topology terms are not what the plan says"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := Summary(tc.findings)
			assert.Equal(t, tc.want, faults)
		})
	}
}

// That more effort does not pay is told, and breaks no promise.
func TestMoreEffortThatCostsMore(t *testing.T) {
	text, faults := Summary([]*Finding{{Instance: instance("n", 1, false), Results: []peer.Result{
		result("plimsoll fast", 9, "2", "1", 1), result("plimsoll", 9, "2.5", "1", 1.5), result("plimsoll thorough", 9, "2.5", "1", 1.5),
	}}})
	assert.Empty(t, faults)
	assert.Contains(t, text, "More effort costs more: 1\n\n- n: plimsoll costs 2.5, plimsoll fast 2\n")
}

// The median is taken over the instances on which a planner places all pods, and the bound is the highest of those
// found.
func TestCorpora(t *testing.T) {
	on := func(name string, results ...peer.Result) *Finding {
		return &Finding{Instance: corpus.Instance{Corpus: name}, Results: results}
	}
	all := []*Finding{
		on("a", result("x", 9, "3", "0", 0), result("plimsoll", 9, "2", "1.6", 0), result("plimsoll thorough", 9, "2", "2", 0)),
		on("a", result("x", 8, "1", "0", 0), result("plimsoll", 9, "2.2", "2", 0)),
		on("b", result("x", 8, "1", "0", 0), result("y", 9, "4", "0", 0), result("plimsoll", 9, "2", "2", 0)),
	}
	assert.Equal(t, `| corpus | plimsoll | plimsoll thorough | x | y |
|---|--:|--:|--:|--:|
| a | 1.050 | 1.000 | 1.500 (on 1 of 2) | – |
| b | 1.000 | – | fewer pods | 2.000 |
`, Corpora(all))
}
