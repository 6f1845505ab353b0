package requirements_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// The fast checks agree with apimachinery, on words made to be almost valid.
func TestLabelSyntaxAgreesWithAPIMachinery(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	letters := []string{"a", "Z", "0", "-", "_", ".", "/", " ", "é", "x.y", "example.com/", strings.Repeat("k", 30), strings.Repeat("d.", 60)}
	words := []string{"", "a", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253) + "/a", strings.Repeat("a", 254) + "/a", "a/b/c", "/a", "a/", "-a", "a-", "A.com/b", "a..b/c", "a.-b/c"}
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteString(letters[random.IntN(len(letters))])
		}
		words = append(words, b.String())
	}
	for _, w := range words {
		assert.Equal(t, len(validation.IsValidLabelValue(w)) == 0, requirements.ValidLabelValue(w), "value %q", w)
		assert.Equal(t, len(validation.IsQualifiedName(w)) == 0, requirements.ValidLabelKey(w), "key %q", w)
	}
}
