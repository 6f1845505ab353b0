package drift

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// The template's hash comes before requirements, and both before the provider's own reason; hashes of different versions
// tell nothing.
func TestOrderOfKinds(t *testing.T) {
	hashes := func(hash, version string) map[string]string {
		return map[string]string{poolHash: hash, poolHashVersion: version}
	}
	required, err := requirements.FromSelectors([]requirements.Selector{{Key: "team", Operator: requirements.In, Values: []string{"a"}}})
	require.NoError(t, err)
	pool := Pool{
		Object:   &scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: hashes("1", "v3")}},
		Required: required,
	}
	labels := map[string]string{"team": "b"}
	for name, tc := range map[string]struct {
		annotations map[string]string
		labels      map[string]string
		want        string
	}{
		"hash":                       {hashes("2", "v3"), labels, poolDrifted},
		"requirements":               {hashes("1", "v3"), labels, requirementsDrifted},
		"hashes of other versions":   {hashes("2", "v4"), map[string]string{"team": "a"}, "AMIDrift (its NodeClaim says so)"},
		"only the provider's reason": {nil, map[string]string{"team": "a"}, "AMIDrift (its NodeClaim says so)"},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: tc.labels}}
		kind, _, _ := strings.Cut(Of(Node{Object: node, Annotations: tc.annotations, Age: 2 * time.Hour, Claimed: "AMIDrift"}, pool), ":")
		assert.Equal(t, tc.want, kind, name)
	}
}
