package pack

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// The number of processors is the whole process's, so this test is not parallel.
func TestAnyNumberOfHandsBuysTheSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, p := range []*model.Problem{mix(1_000, proportional(60, 3, 1), 3), thirtySizes(5_000), logNormal(3_000, 250)} {
		var want Outcome
		for _, processors := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(processors)
			got := Search(p, Params{Work: 2_000_000})
			if processors == 1 {
				want = got
			}
			require.Equal(t, want, got, "with %d processors", processors)
		}
	}
}
