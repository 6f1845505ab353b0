package instancetypes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplitTerms(t *testing.T) {
	for _, tc := range []struct {
		expr string
		want []string
	}{
		{"", []string{""}},
		{"a", []string{"a"}},
		{"a,b", []string{"a", "b"}},
		{"a in (b,c),d", []string{"a in (b,c)", "d"}},
		{"a in (b,(c,d),e),f", []string{"a in (b,(c,d),e)", "f"}},
		{",", []string{"", ""}},
		{")a,b", []string{")a", "b"}},
		{"(a,b", []string{"(a,b"}},
	} {
		assert.Equal(t, tc.want, splitTerms(tc.expr), tc.expr)
	}
}

func TestReadTerm(t *testing.T) {
	for _, tc := range []struct {
		text   string
		key    string
		op     string
		values []string
	}{
		{"a", "a", "exists", nil},
		{" a ", "a", "exists", nil},
		{"!a", "a", "absent", nil},
		{"! a", "a", "absent", nil},
		{"a=b", "a", "=", []string{"b"}},
		{"a == b", "a", "=", []string{"b"}},
		{"a!=b", "a", "!=", []string{"b"}},
		{"a<1", "a", "<", []string{"1"}},
		{"a<=1", "a", "<=", []string{"1"}},
		{"a>1", "a", ">", []string{"1"}},
		{"a >= 1", "a", ">=", []string{"1"}},
		{"a in (b)", "a", "in", []string{"b"}},
		{"a in(b c,d , e)", "a", "in", []string{"b", "c", "d", "e"}},
		{"a notin ( b\tc )", "a", "notin", []string{"b", "c"}},
		{"in in (in)", "in", "in", []string{"in"}},
		{"notin=in", "notin", "=", []string{"in"}},
		{"label:a.b/C-d_e=f", "label:a.b/C-d_e", "=", []string{"f"}},
	} {
		got, err := readTerm(tc.text)
		require.NoError(t, err, tc.text)
		assert.Equal(t, tc.key, got.key, tc.text)
		assert.Equal(t, tc.op, got.op, tc.text)
		assert.Equal(t, tc.values, got.values, tc.text)
	}
}

func TestLabelKeys(t *testing.T) {
	for _, tc := range []struct {
		key  string
		want []string
	}{
		{"arch", []string{"kubernetes.io/arch"}},
		{"os", []string{"kubernetes.io/os"}},
		{"zone", []string{"topology.kubernetes.io/zone"}},
		{"region", []string{"topology.kubernetes.io/region"}},
		{"capacity-type", []string{"karpenter.sh/capacity-type"}},
		{"nodepool", []string{"karpenter.sh/nodepool"}},
		{"instance-type", []string{"node.kubernetes.io/instance-type"}},
		{"category", []string{"karpenter.k8s.aws/instance-category"}},
		{"generation", []string{"karpenter.k8s.aws/instance-generation"}},
		{"family", []string{"karpenter.azure.com/sku-family", "karpenter.k8s.aws/instance-family", "karpenter.kwok.sh/instance-family"}},
		{"sku-family", []string{"karpenter.azure.com/sku-family"}},
		{"local-nvme", []string{"karpenter.k8s.aws/instance-local-nvme"}},
		{"nvme", []string{"karpenter.k8s.aws/instance-local-nvme"}},
		{"gpu-name", []string{"karpenter.azure.com/sku-gpu-name", "karpenter.k8s.aws/instance-gpu-name"}},
		{"a.b/c", []string{"a.b/c"}},
		{"failure-domain.beta.kubernetes.io/zone", []string{"topology.kubernetes.io/zone"}},
		{"label:team", []string{"team"}},
		{"label:beta.kubernetes.io/arch", []string{"kubernetes.io/arch"}},
	} {
		got, err := labelKeys(tc.key)
		require.NoError(t, err, tc.key)
		assert.Equal(t, tc.want, got, tc.key)
	}
}

func TestNearest(t *testing.T) {
	for key, want := range map[string]string{
		"generaton": " (did you mean generation?)", "zon": " (did you mean zone?)", "memroy": " (did you mean memory?)",
		"prise": " (did you mean price?)", "completely-else": "", "": "",
	} {
		assert.Equal(t, want, nearest(key), key)
	}
}
