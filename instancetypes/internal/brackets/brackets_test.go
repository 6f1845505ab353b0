package brackets_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/brackets"
)

func TestMemory(t *testing.T) {
	for gib, want := range map[int64]int64{-1: 0, 0: 0, 4: 1024, 8: 1843, 16: 2662, 32: 3645, 128: 9543} {
		assert.Equal(t, want, brackets.Memory(gib<<10, 1<<10), "%d GiB", gib)
	}
	assert.Equal(t, int64(12165), brackets.Memory(256<<20, 1<<20)>>10)
}
