package requirements

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// kubeOperators translates as kube-scheduler does for node affinity.
var kubeOperators = map[Operator]selection.Operator{
	In: selection.In, NotIn: selection.NotIn, Exists: selection.Exists,
	DoesNotExist: selection.DoesNotExist, Gt: selection.GreaterThan, Lt: selection.LessThan,
}

// kubeSelector is kube-scheduler's selector of a term; nil when it refuses the term.
func kubeSelector(exprs []corev1.NodeSelectorRequirement) labels.Selector {
	out := labels.NewSelector()
	for _, e := range exprs {
		r, err := labels.NewRequirement(e.Key, kubeOperators[e.Operator], e.Values)
		if err != nil {
			return nil
		}
		out = out.Add(*r)
	}
	return out
}

// The same terms are valid, and match the same nodes, as by kube-scheduler's own code.
func TestAgreesWithKubeScheduler(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 51))
	ops := []Operator{In, NotIn, Exists, DoesNotExist, Gt, Lt}
	keys := []string{"a", "b", "example.com/c", "example.com/c", "not a key", ""}
	values := append([]string{"01", "007", "9223372036854775807", "9223372036854775808", "x y", "-", "A.b_c-9"}, operands...)
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	accepted, matched := 0, 0
	for range 30_000 {
		var exprs []corev1.NodeSelectorRequirement
		for range 1 + r.IntN(3) {
			e := corev1.NodeSelectorRequirement{Key: keys[min(r.IntN(40), len(keys)-1-2*r.IntN(2))%len(keys)], Operator: ops[r.IntN(len(ops))]}
			count := 1
			if e.Operator == Exists || e.Operator == DoesNotExist {
				count = r.IntN(20) / 19
			} else if r.IntN(4) == 0 {
				count = r.IntN(4)
			}
			for range count {
				e.Values = append(e.Values, pick(values))
			}
			exprs = append(exprs, e)
		}
		kube := kubeSelector(exprs)
		set, err := FromNodeSelector(exprs)
		require.Equal(t, kube != nil, err == nil, "%v: %v", exprs, err)
		if err != nil {
			continue
		}
		accepted++
		for range 4 {
			node := map[string]string{}
			for _, key := range keys[:3] {
				if r.IntN(3) > 0 {
					node[key] = pick(values)
				}
			}
			want := kube.Matches(labels.Set(node))
			require.Equal(t, want, set.Matches(node), "%v on %v", exprs, node)
			if want {
				matched++
			}
		}
	}
	require.Greater(t, accepted, 3_000, "the generator makes valid terms")
	require.Greater(t, matched, 1_000, "the generator makes terms that match")
}

// R10, R26: the faults of a term, every one at once.
func TestFromNodeSelectorErrors(t *testing.T) {
	_, err := FromNodeSelector([]corev1.NodeSelectorRequirement{
		{Key: "a", Operator: In, Values: []string{"x"}},
		{Key: "a", Operator: Gte, Values: []string{"1"}},
		{Key: "a", Operator: NotIn},
		{Key: "b", Operator: Gt, Values: []string{"-5"}},
		{Key: "b", Operator: Lt, Values: []string{"five"}},
		{Key: "no key", Operator: In, Values: []string{"ok", "not ok"}},
		{Key: "", Operator: "Is"},
	})
	require.EqualError(t, err, `[1].operator of "a": is known on NodePools only, not in node affinity: "Gte"
[2].values of "a": operator NotIn needs at least one value
[3].values[0] of "b": is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends: "-5"
[4].values[0] of "b": operator Lt needs an integer of 64 bits: "five"
[5].key of "no key": is no label key: an optional DNS name and a slash, then up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends
[5].values[1] of "no key": is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends: "not ok"
[6].key: must not be empty
[6].operator: must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Is"`)

	set, err := FromNodeSelector(nil)
	require.NoError(t, err)
	require.Zero(t, set.Len())
}
