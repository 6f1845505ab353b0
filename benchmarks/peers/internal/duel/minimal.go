package duel

import (
	"context"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Minimal is a bout's problem made as small as it can be with the same verdict, as YAML.
// Karpenter does not always decide alike, so that two calls need not give the same.
func Minimal(ctx context.Context, b *Bout, s Settings) string {
	small := schedulingtest.Minimise(Draw(b.Seed), func(q scheduling.Problem) bool {
		again, err := Fight(ctx, b.Seed, q, s)
		return err == nil && again.Verdict(s) == b.Verdict(s)
	})
	return schedulingtest.YAML(small)
}
