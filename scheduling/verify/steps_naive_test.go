package verify_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// replay is a cluster whose steps are carried out by the naive rules, pod by pod.
type replay struct {
	nodes []*corev1.Node
	at    map[string]*corev1.Node // by name of a pod
	pods  []*corev1.Pod
	told  []string
}

func (m *replay) node(name string) *corev1.Node {
	i := slices.IndexFunc(m.nodes, func(n *corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return m.nodes[i]
}

// without returns the cluster with some of its nodes, and without the pods that are to bind.
func (m *replay) without(there func(node string) bool, moves map[string]bool) *naive {
	n := &naive{on: map[string][]*corev1.Pod{}}
	for _, node := range m.nodes {
		if there(node.Name) {
			n.nodes = append(n.nodes, node)
		}
	}
	for _, pod := range m.pods {
		if at := m.at[pod.Name]; there(at.Name) && !moves[pod.Name] {
			n.on[at.Name] = append(n.on[at.Name], pod)
		}
	}
	return n
}

// step carries a step out: first with all pods at once, then wave by wave.
func (m *replay) step(i int, s *disruption.Step) {
	gone := func(node string) bool { return slices.Contains(s.Drain, node) }
	to, wave, last := map[string]*corev1.Node{}, map[string]int{}, 0
	for _, e := range s.Evictions {
		_, name, _ := strings.Cut(e.Pod, "/")
		to[name], wave[name], last = m.node(e.To), e.Wave, max(last, e.Wave)
	}
	tell := func(what string, n *naive, of func(pod string) bool) {
		come := slices.DeleteFunc(slices.Clone(m.pods), func(p *corev1.Pod) bool { return to[p.Name] == nil || !of(p.Name) })
		for _, name := range n.unbound(come, to) {
			m.told = append(m.told, fmt.Sprintf("%s steps[%d]/%s", what, i, name))
		}
	}
	moves := map[string]bool{}
	for name := range to {
		moves[name] = true
	}
	tell("bind", m.without(func(node string) bool { return !gone(node) }, moves), func(string) bool { return true })
	for now := 1; now <= last && last > 1; now++ {
		still := map[string]bool{}
		for name, w := range wave {
			still[m.at[name].Name] = still[m.at[name].Name] || w > now
		}
		there := func(node string) bool { return !gone(node) || still[node] }
		away := map[string]bool{}
		for name, w := range wave {
			away[name] = w <= now
		}
		n := m.without(there, away)
		for _, pod := range m.pods {
			if w := wave[pod.Name]; w > 0 && w < now {
				n.on[to[pod.Name].Name] = append(n.on[to[pod.Name].Name], pod)
			}
		}
		tell("wave", n, func(pod string) bool { return wave[pod] == now })
	}
	m.pods = slices.DeleteFunc(m.pods, func(p *corev1.Pod) bool { return gone(m.at[p.Name].Name) && to[p.Name] == nil })
	maps.Copy(m.at, to)
	m.nodes = slices.DeleteFunc(slices.Clone(m.nodes), func(n *corev1.Node) bool { return gone(n.Name) })
}

// draw returns a random step that interrupts one or two nodes.
func (m *replay) draw(rng *rand.Rand) disruption.Step {
	left := slices.Clone(m.nodes)
	rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	s := disruption.Step{Reason: disruption.Interrupted}
	for range 1 + rng.IntN(2) {
		if len(left) > 1 {
			s.Drain, left = append(s.Drain, left[0].Name), left[1:]
		}
	}
	wave := 1
	for _, pod := range m.pods {
		if at := m.at[pod.Name]; pod.DeletionTimestamp == nil && slices.Contains(s.Drain, at.Name) {
			s.Evictions = append(s.Evictions, disruption.Eviction{Pod: pod.Namespace + "/" + pod.Name, From: at.Name, To: left[rng.IntN(len(left))].Name, Wave: wave})
			wave += rng.IntN(2)
		}
	}
	return s
}

// TestStepsAgreeWithTheNaiveRules: in each wave of each step the checker reports exactly the pods that cannot bind by
// the naive rules, after any number of earlier steps.
func TestStepsAgreeWithTheNaiveRules(t *testing.T) {
	t.Parallel()
	blamed := map[string]int{}
	for seed := range soak.Cases(1500) {
		rng := rand.New(rand.NewPCG(seed, 12))
		p, where := randomTerms(rng)
		m := &replay{nodes: p.Nodes, at: map[string]*corev1.Node{}}
		for _, pod := range p.Pods {
			pod.Spec.NodeName = where[pod.Name].Name
		}
		p.Running, p.Pods = append(p.Running, p.Pods...), nil
		m.pods = slices.Clone(p.Running)
		for _, pod := range p.Running {
			m.at[pod.Name] = m.node(pod.Spec.NodeName)
		}
		plan := &disruption.ConsolidationPlan{}
		for len(m.nodes) > 1 {
			plan.Steps = append(plan.Steps, m.draw(rng))
			m.step(len(plan.Steps)-1, &plan.Steps[len(plan.Steps)-1])
		}
		var report *verify.Report
		errors.As(verify.Steps(disruption.Cluster{Problem: p}, plan), &report)
		var got []string
		for _, v := range report.Violations {
			switch v.Code {
			case verify.CodeWave:
				got = append(got, "wave "+v.Object)
				blamed["wave"]++
			case verify.CodeTopologySpread, verify.CodePodAffinity, verify.CodePodAntiAffinity:
				got = append(got, "bind "+v.Object)
				blamed[string(v.Code)]++
			}
		}
		slices.Sort(got)
		slices.Sort(m.told)
		require.Equal(t, m.told, got, "seed %d", seed)
	}
	require.Len(t, blamed, 4)
	for what, n := range blamed {
		assert.Greater(t, n, 120, what)
	}
}
