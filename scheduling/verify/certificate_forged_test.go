package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// forgeries calls judge with copies of the certificate, each with one change: a number is multiplied by three, or an
// entry is removed. Of all possible changes it makes one in every.
func forgeries(t *testing.T, c *certificate.Certificate, every int, judge func(what string, forged *certificate.Certificate)) {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var whole any
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	require.NoError(t, numbers.Decode(&whole))
	count := 0
	try := func(what string) {
		if count++; count%every == 0 {
			text, err := json.Marshal(whole)
			require.NoError(t, err)
			forged := &certificate.Certificate{}
			require.NoError(t, json.Unmarshal(text, forged))
			judge(what, forged)
		}
	}
	var walk func(at string, part any, set func(any))
	walk = func(at string, part any, set func(any)) {
		switch x := part.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(x)) {
				value := x[key]
				delete(x, key)
				try("without " + at + key)
				x[key] = value
				walk(at+key+": ", value, func(v any) { x[key] = v })
			}
		case []any:
			for i, value := range x {
				walk(fmt.Sprintf("%s%d: ", at, i), value, func(v any) { x[i] = v })
			}
		case string, json.Number:
			n, ok := new(big.Int).SetString(fmt.Sprint(x), 10)
			if !ok {
				return
			}
			text := n.Mul(n, big.NewInt(3)).String()
			if set(text); reflect.TypeOf(x) == reflect.TypeFor[json.Number]() {
				set(json.Number(text))
			}
			try(at + "trebled")
			set(x)
		}
	}
	walk("", whole, nil)
}

// TestForgedCertificates: the certificates of the solver prove their bounds, and no higher ones. Changed certificates
// never prove a bound above the price of the plan, and most of them prove less than before.
func TestForgedCertificates(t *testing.T) {
	t.Parallel()
	parts := map[string]int{}
	var note func(c *certificate.Certificate)
	note = func(c *certificate.Certificate) {
		parts[c.Kind]++
		parts["apart"] += len(c.Apart)
		parts["steps"] += len(c.Steps)
		parts["spreads"] += len(c.Spreads)
		parts["balances"] += len(c.Balances)
		for _, s := range c.Spreads {
			parts["further"] += len(s.Further)
		}
		if x := c.Branched; x != nil {
			parts["cases of a zone"] += len(x.Domain)
			note(x.Fewer)
			note(x.More)
		}
	}
	tried, proved := 0, 0
	forge := func(name string, every int, p scheduling.Problem, solver scheduling.Policy) {
		f := solved(t, p, solver)
		s := &f.plan.Summary
		if s.Certificate == nil {
			return
		}
		note(s.Certificate)
		bound, price := s.LowerBoundPerHour, s.PricePerHour
		require.NotEmpty(t, boundCodes(t, f, price+1), name)
		forgeries(t, s.Certificate, every, func(what string, forged *certificate.Certificate) {
			s.Certificate = forged
			require.NotEmpty(t, boundCodes(t, f, price+1), "%s: %s", name, what)
			if tried++; len(boundCodes(t, f, bound)) == 0 {
				proved++
			}
		})
	}
	for seed := range soak.Cases(60) {
		forge(fmt.Sprintf("random %d", seed), 1, schedulable(t, seed), scheduling.Policy{})
	}
	for seed := range soak.Cases(4) {
		solver := scheduling.Policy{Effort: []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault}[seed%2]}
		forge(fmt.Sprintf("mix %d", seed), 11, diverse(seed), solver)
		forge(fmt.Sprintf("services %d", seed), 19, servicesInZones(seed), solver)
		forge(fmt.Sprintf("tangle %d", seed), 11, linkedSpreadsProblem(seed), scheduling.Policy{})
	}
	t.Logf("%v, %d of %d prove as much", parts, proved, tried)
	for _, part := range []string{"resource", "assignment", "pattern", "cover", "branched", "apart", "steps", "spreads", "further", "balances", "cases of a zone"} {
		assert.True(t, race.Enabled || parts[part] > 0, "no certificate has %s", part)
	}
	assert.Less(t, proved, tried/2)
}

// solved returns the problem with the plan of the solver, after a check that its certificate proves its bound, and no
// higher one.
func solved(t *testing.T, p scheduling.Problem, solver scheduling.Policy) *fixture {
	t.Helper()
	plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
	require.NoError(t, err)
	f := &fixture{p: p, plan: plan, solver: solver, skip: true}
	bound := plan.Summary.LowerBoundPerHour
	assert.NotEmpty(t, boundCodes(t, f, bound+1))
	require.Empty(t, boundCodes(t, f, bound))
	return f
}

// diverse is a problem of Karpenter's mix of pods, for machines of 1 to 24 cores.
func diverse(seed uint64) scheduling.Problem {
	var types []*instancetypes.InstanceType
	for cores := int64(1); cores <= 24; cores++ {
		types = append(types, st.Type(fmt.Sprintf("m-%02d", cores), st.Capacity(st.Cores(cores), st.GiB(2*cores), st.Count(corev1.ResourcePods, 10*cores)),
			st.KubeReserved(st.MilliCPU(100)), st.OnDemand("a", offerings.Price(cores*100_000_000))))
	}
	return scheduling.Problem{Pods: st.Diverse(100, seed), NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: st.MustCatalog(types...)}
}

// servicesInZones is a problem of services, most of which are spread over zones with different prices.
func servicesInZones(seed uint64) scheduling.Problem {
	r := rand.New(rand.NewPCG(seed, 5))
	var types []*instancetypes.InstanceType
	for cores := int64(1); cores <= 16; cores *= 2 {
		opts := []st.TypeOption{st.Capacity(st.Cores(cores), st.GiB(4*cores)), st.KubeReserved(st.MilliCPU(100))}
		for _, zone := range []string{"a", "b", "c"} {
			opts = append(opts, st.Spot(zone, offerings.Price(cores*(70_000_000+r.Int64N(90_000_000)))))
		}
		types = append(types, st.Type(fmt.Sprintf("m-%02d", cores), opts...))
	}
	p := scheduling.Problem{NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: st.MustCatalog(types...)}
	for i := range 12 {
		name := fmt.Sprintf("w%d", i)
		opts := []st.PodOption{st.Label("app", name), st.Requests(st.MilliCPU(100+r.Int64N(1500)), st.MiB(100+r.Int64N(4000)))}
		if i%3 > 0 {
			opts = append(opts, st.Spread(zoneOf))
		}
		if i%4 == 0 {
			opts = append(opts, st.Apart(hostName))
		}
		p.Pods = append(p.Pods, st.Pods(2+r.IntN(9), name, opts...)...)
	}
	return p
}

// linkedSpreadsProblem is a problem of pods with three labels in zones with different prices. Some pods are spread over
// zones by a label that other pods have, too, so that their spreads are linked.
func linkedSpreadsProblem(seed uint64) scheduling.Problem {
	r := rand.New(rand.NewPCG(seed, 8))
	var types []*instancetypes.InstanceType
	for cores := int64(1); cores <= 8; cores *= 2 {
		opts := []st.TypeOption{st.Capacity(st.Cores(cores), st.GiB(4*cores)), st.KubeReserved(st.MilliCPU(100))}
		for i, zone := range []string{"a", "b", "c"} {
			opts = append(opts, st.Spot(zone, offerings.Price(cores*(70_000_000+r.Int64N(10_000_000)+int64(i)*20_000_000))))
		}
		types = append(types, st.Type(fmt.Sprintf("m-%02d", cores), opts...))
	}
	p := scheduling.Problem{NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: st.MustCatalog(types...)}
	letter := func() string { return string(rune('a' + r.IntN(3))) }
	for i := range 30 {
		opts := []st.PodOption{st.Label("my", letter()), st.Requests(st.MilliCPU(250+250*r.Int64N(4)), st.MiB(512+512*r.Int64N(4)))}
		if i%3 == 0 {
			opts = append(opts, st.Spread(zoneOf, st.Of("my", letter())))
		}
		p.Pods = append(p.Pods, st.Pod(fmt.Sprintf("p%02d", i), opts...))
	}
	return p
}
