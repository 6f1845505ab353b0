package validate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

// sameAsUpstream compares the rules for labels with those of apimachinery.
func sameAsUpstream(t *testing.T, s string) {
	t.Helper()
	assert.Equal(t, len(validation.IsValidLabelValue(s)) == 0, LabelValue(s), "value %q", s)
	assert.Equal(t, len(validation.IsQualifiedName(s)) == 0, LabelKey(s), "key %q", s)
}

func TestLabels(t *testing.T) {
	long := strings.Repeat("x", 63)
	domain := strings.Repeat("x.", 126) + "x"
	for _, s := range []string{
		"", "a", "A", "0", "-", "a-", "-a", "a-b", "a_b", "a.b", "a..b", "ä", "a b", long, long + "x", "a/b", "/b", "a/", "a/b/c",
		"A/b", "a.b/c", "a..b/c", ".a/c", "a./c", "-a/c", "a-/c", "a-.b/c", "a.-b/c", "a--b/c", "a_b/c", "9/c",
		domain + "/c", domain + "x/c", "a/" + long, "a/" + long + "x", "topology.kubernetes.io/zone", "\x00", "a\n",
	} {
		sameAsUpstream(t, s)
	}
	rng := rand.New(rand.NewPCG(6, 3))
	const letters = "aZ0-_./ é"
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(8) {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
		sameAsUpstream(t, b.String())
	}
}

func FuzzLabels(f *testing.F) {
	for _, s := range []string{"a/b", "x.y-z/Q_1", "", "a--b/c"} {
		f.Add(s)
	}
	f.Fuzz(sameAsUpstream)
}
