package podspec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	helpers "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// draw is a source of random specs.
type draw struct{ *rand.Rand }

func (r draw) one(of ...string) string { return of[r.IntN(len(of))] }

func (r draw) amounts() corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "example.com/gpu"} {
		if r.IntN(2) == 0 {
			out[name] = *resource.NewQuantity(int64(r.IntN(9)), resource.DecimalSI)
		}
	}
	return out
}

// Requests are those of Kubernetes' own PodRequests, for specs with requests stated for each limit, as the API server
// leaves them.
func TestReadIsPodRequests(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for seed := range uint64(2000) {
		r := draw{rand.New(rand.NewPCG(seed, 1))}
		spec := &corev1.PodSpec{}
		for range 1 + r.IntN(3) {
			spec.Containers = append(spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{Requests: r.amounts()}})
		}
		for range r.IntN(4) {
			c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: r.amounts()}}
			if r.IntN(2) == 0 {
				c.RestartPolicy = &always
			}
			spec.InitContainers = append(spec.InitContainers, c)
		}
		if r.IntN(3) == 0 {
			spec.Overhead = r.amounts()
		}
		if r.IntN(3) == 0 {
			spec.Resources = &corev1.ResourceRequirements{Requests: r.amounts()}
		}
		table := NewResourceTable()
		reader := RequestReader{Table: table}
		have := slices.Clone(reader.Read(spec))
		for name, q := range helpers.PodRequests(&corev1.Pod{Spec: *spec}, helpers.PodResourcesOptions{}) {
			requested := int64(0)
			if d, known := table.Index[name]; known {
				requested = have[d]
			}
			require.Equal(t, Amount(name, q), requested, "seed %d: %s of %+v", seed, name, spec)
		}
	}
}

// A node matches a constraint where Kubernetes' own node affinity matches it, and a new node can be chosen for it where one
// of its alternatives holds.
func TestMatchesNodeIsNodeAffinity(t *testing.T) {
	matched := 0
	for seed := range uint64(3000) {
		r := draw{rand.New(rand.NewPCG(seed, 2))}
		spec, fields := &corev1.PodSpec{}, false
		if r.IntN(2) == 0 {
			spec.NodeSelector = map[string]string{"tier": r.one("a", "b")}
		}
		if r.IntN(4) > 0 {
			terms := &corev1.NodeSelector{}
			for range 1 + r.IntN(3) {
				var term corev1.NodeSelectorTerm
				for range r.IntN(3) {
					term.MatchExpressions = append(term.MatchExpressions, r.expression())
				}
				if r.IntN(6) == 0 {
					fields = true
					term.MatchFields = []corev1.NodeSelectorRequirement{{
						Key: "metadata.name", Operator: corev1.NodeSelectorOperator(r.one("In", "NotIn")), Values: []string{r.one("n", "m")},
					}}
				}
				terms.NodeSelectorTerms = append(terms.NodeSelectorTerms, term)
			}
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		}
		c := NewConstraint(spec)
		upstream := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *spec})
		for range 5 {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}}}
			for _, key := range []string{"tier", "zone", "size"} {
				if r.IntN(3) > 0 {
					node.Labels[key] = r.one("a", "b", "7")
				}
			}
			want, _ := upstream.Match(node)
			require.Equal(t, want, c.FitOn(node.Name, node.Labels, nil).Admits(), "seed %d: %+v on %v", seed, spec, node.Labels)
			some := slices.ContainsFunc(c.Alternatives(), func(all []Expression) bool {
				return !slices.ContainsFunc(all, func(e Expression) bool { return !e.Matches(node.Labels) })
			})
			if fields {
				continue // they name existing nodes, so that no new node has the name
			}
			require.Equal(t, want, some, "seed %d: alternatives of %+v on %v", seed, spec, node.Labels)
			if want {
				matched++
			}
		}
	}
	require.Greater(t, matched, 1000)
}

func (r draw) expression() corev1.NodeSelectorRequirement {
	e := corev1.NodeSelectorRequirement{Key: r.one("tier", "zone", "size"), Operator: corev1.NodeSelectorOperator(r.one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))}
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		e.Values = []string{"a", r.one("b", "7")}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		e.Values = []string{r.one("6", "7", "8")}
	}
	return e
}

// The set of targets that a pod is in has those whose selectors select it, one by one, however labels and namespaces
// are told apart on the way.
func TestMatchedTargets(t *testing.T) {
	for seed := range uint64(300) {
		r := draw{rand.New(rand.NewPCG(seed, 3))}
		x := NewTargets()
		for i := range 6 {
			var target Target
			for range 1 + r.IntN(2) {
				text := r.one("app=a", "app in (a,b)", "app!=a", "app", "!tier", "tier=x,app=b", "")
				selector, err := labels.Parse(text)
				require.NoError(t, err)
				target.Selectors = append(target.Selectors, PodSelector{Every: r.IntN(2) == 0, Namespaces: map[string]bool{r.one("shop", "bank"): true}, Labels: selector})
			}
			require.Equal(t, i, x.Add(fmt.Sprint(i), func() Target { return target }))
			require.Equal(t, i, x.Add(fmt.Sprint(i), func() Target { panic("a known target is not made again") }))
		}
		for range 20 {
			namespace, set := r.one("shop", "bank"), map[string]string{"other": r.one("1", "2", "3")}
			for _, key := range []string{"app", "tier"} {
				if r.IntN(3) > 0 {
					set[key] = r.one("a", "b", "x")
				}
			}
			among := x.Matched(namespace, set)
			for n := range x.List {
				want := !slices.ContainsFunc(x.List[n].Selectors, func(s PodSelector) bool { return !s.Matches(namespace, set) })
				require.Equal(t, want, x.Has(among, n), "seed %d", seed)
			}
		}
	}
}

// The order in which pods come changes neither the classes nor their order.
func TestClassesDoNotDependOnOrder(t *testing.T) {
	for seed := range uint64(200) {
		r := draw{rand.New(rand.NewPCG(seed, 4))}
		var pods []*corev1.Pod
		for i := range 20 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)}}
			pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceName(r.one("cpu", "example.com/gpu")): resource.MustParse(r.one("1", "2")),
			}}}}
			if r.IntN(2) == 0 {
				pod.Spec.NodeSelector = map[string]string{"tier": r.one("a", "b")}
			}
			pods = append(pods, pod)
		}
		first := classesOf(pods)
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		require.Equal(t, first, classesOf(pods), "seed %d", seed)
	}
}

// classesOf are the names of the pods of each class, in the order of the classes.
func classesOf(pods []*corev1.Pod) (out [][]string) {
	reader := NewSpecReader(&scheduling.Problem{}, &scheduling.Policy{})
	readings := Readings{Table: reader.Table}
	for _, pod := range pods {
		readings.Of = append(readings.Of, reader.Read(pod))
	}
	readings.PodSpecKeys = reader.PodSpecKeys
	table := readings.Resources()
	c := NewClassifier(table)
	for i, pod := range pods {
		class := c.Class(pod, readings.PodSpecKeys[readings.Of[i]], 0, 0)
		class.Pods = append(class.Pods, pod)
	}
	c.Sort(table.Sort(), [][]int32{nil})
	for _, class := range c.Classes {
		var names []string
		for _, pod := range class.Pods {
			names = append(names, pod.Name)
		}
		out = append(out, names)
	}
	return out
}
