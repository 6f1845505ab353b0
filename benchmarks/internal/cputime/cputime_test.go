package cputime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Work counts.
func TestUsed(t *testing.T) {
	before := Used()
	if before == 0 {
		t.Skip("the system does not tell")
	}
	x := 1
	for deadline := time.Now().Add(5 * time.Second); Used()-before < 20*time.Millisecond && time.Now().Before(deadline); {
		x = x*3 + 1
	}
	assert.GreaterOrEqual(t, Used()-before, 20*time.Millisecond, "after %d", x)
}
