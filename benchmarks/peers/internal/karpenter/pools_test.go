package karpenter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestNodePools(t *testing.T) {
	going := st.NodePool("going")
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
	full := st.NodePool("full", st.Weight(7),
		st.Where(st.In("zone", "a", "b"), st.Gt("size", 4), st.AtLeast(2, st.Exists("family"))),
		st.Taint("team", "red", corev1.TaintEffectNoSchedule), st.StartupTaint("boot", "", corev1.TaintEffectNoExecute),
		st.Label("tier", "gold"), st.Limit(st.Cores(100)), st.MaxNodes(9))
	expire := 5 * time.Hour
	full.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{Duration: &expire}
	before := full.DeepCopy()

	pools, err := nodePools([]*scheduling.NodePool{st.NodePool("a"), st.NodePool("b"), full, st.NodePool("static", st.Replicas(3)), going})
	require.NoError(t, err)
	assert.Equal(t, before, full)

	var names []string
	for _, p := range pools {
		names = append(names, p.Name)
		assert.NotEmpty(t, p.UID)
		assert.NotNil(t, p.Spec.Template.Spec.NodeClassRef)
	}
	assert.Equal(t, []string{"full", "b", "a"}, names, "by weight, then by Karpenter's rule for names")

	got := pools[0]
	two := 2
	assert.Equal(t, int32(7), *got.Spec.Weight)
	assert.Equal(t, []karpv1.NodeSelectorRequirementWithMinValues{
		{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
		{Key: "size", Operator: corev1.NodeSelectorOpGt, Values: []string{"4"}},
		{Key: "family", Operator: corev1.NodeSelectorOpExists, MinValues: &two},
	}, got.Spec.Template.Spec.Requirements)
	assert.Equal(t, full.Spec.Template.Spec.Taints, got.Spec.Template.Spec.Taints)
	assert.Equal(t, full.Spec.Template.Spec.StartupTaints, got.Spec.Template.Spec.StartupTaints)
	assert.Equal(t, map[string]string{"tier": "gold"}, got.Spec.Template.Labels)
	cores, nodes := got.Spec.Limits["cpu"], got.Spec.Limits["nodes"]
	assert.Equal(t, "100 9", cores.String()+" "+nodes.String())
	assert.Equal(t, expire, *got.Spec.Template.Spec.ExpireAfter.Duration)
}

func TestNodePoolsKeepWhatIsSet(t *testing.T) {
	p := st.NodePool("p")
	p.UID = "mine"
	p.Spec.Template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: "g", Kind: "k", Name: "n"}
	pools, err := nodePools([]*scheduling.NodePool{p})
	require.NoError(t, err)
	assert.EqualValues(t, "mine", pools[0].UID)
	assert.Equal(t, karpv1.NodeClassReference{Group: "g", Kind: "k", Name: "n"}, *pools[0].Spec.Template.Spec.NodeClassRef)
}
