package duel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Report is the outcomes of many problems, and the settings that all share.
type Report struct {
	Settings Settings
	Bouts    []*Bout
}

// Run draws n problems, the first with the seed, and lets both planners solve each. The
// errors of all problems that one of them could not solve come back together.
func Run(ctx context.Context, seed uint64, n int, s Settings) (*Report, error) {
	r := &Report{Settings: s}
	var faults []error
	for i := range uint64(n) {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		b, err := Fight(ctx, seed+i, Draw(seed+i), s)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		r.Bouts = append(r.Bouts, b)
	}
	return r, errors.Join(faults...)
}

// Beaten are the bouts in which the other planner wins by the rules.
func (r *Report) Beaten() []*Bout { return r.with(Fewer, Dearer) }

func (r *Report) with(verdicts ...Verdict) []*Bout {
	var out []*Bout
	for _, b := range r.Bouts {
		if slices.Contains(verdicts, b.Verdict(r.Settings)) {
			out = append(out, b)
		}
	}
	return out
}

// Write writes the report as Markdown: the sums, the rules that the other planner's
// machines break, and a list of the problems for each verdict but the dull ones.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	r.Sums(&b)
	r.broken(&b)
	r.list(&b, "Problems in which karpenter places pods that plimsoll does not", Fewer)
	r.list(&b, "Problems in which plimsoll pays more for the same pods", Dearer)
	r.list(&b, "Problems in which that is so against the rules", Unfair)
	r.list(&b, "Problems in which that is so as long as pods come in the right order", Lucky)
	r.list(&b, "Problems in which that is so as long as domains without nodes do not count", Narrower)
	r.list(&b, "Problems in which limits, reservations or topology terms let only some pods run, and each places others", Others)
	r.list(&b, "Problems in which plimsoll places more", More)
	_, err := io.WriteString(w, b.String())
	return err
}

// Sums writes the two tables at the head of the report.
func (r *Report) Sums(b *strings.Builder) {
	fmt.Fprintf(b, "| verdict on %d problems | number |\n|---|--:|\n", len(r.Bouts))
	for _, v := range []Verdict{More, Cheaper, Same, Others, Unfair, Lucky, Narrower, Dearer, Fewer} {
		fmt.Fprintf(b, "| %s | %d |\n", v, len(r.with(v)))
	}
	var ours, theirs, pods int
	var ourTime, theirTime time.Duration
	for _, bout := range r.Bouts {
		pods, ours, theirs = pods+bout.Pods, ours+bout.Ours, theirs+bout.Theirs
		ourTime, theirTime = ourTime+bout.OurTime, theirTime+bout.TheirTime
	}
	var ourPrice, theirPrice offerings.Price
	for _, bout := range r.with(Same, Cheaper, Dearer) {
		ourPrice, theirPrice = ourPrice+bout.OurPrice, theirPrice+bout.TheirPrice
	}
	fmt.Fprintf(b, "\n| of all problems | plimsoll | karpenter |\n|---|--:|--:|\n")
	fmt.Fprintf(b, "| pods placed, of %d | %d | %d |\n", pods, ours, theirs)
	fmt.Fprintf(b, "| $/h where both place the same pods | %.3f | %.3f |\n", ourPrice.USD(), theirPrice.USD())
	fmt.Fprintf(b, "| time | %d ms | %d ms |\n", ourTime.Milliseconds(), theirTime.Milliseconds())
}

// broken are the rules that the other planner's machines break.
func (r *Report) broken(b *strings.Builder) {
	count, example := map[verify.Code]int{}, map[verify.Code]string{}
	for _, bout := range r.Bouts {
		for code, text := range bout.Broken {
			if count[code]++; count[code] == 1 {
				example[code] = fmt.Sprintf("%d: %s", bout.Seed, text)
			}
		}
	}
	if len(count) == 0 {
		return
	}
	b.WriteString("\n| rule that karpenter's machines break | problems | for example |\n|---|--:|---|\n")
	for _, code := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(b, "| %s | %d | %s |\n", code, count[code], strings.ReplaceAll(example[code], "|", `\|`))
	}
}

// list names the problems with a verdict.
func (r *Report) list(b *strings.Builder, title string, v Verdict) {
	bouts := r.with(v)
	if len(bouts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (seed: pods placed by plimsoll and karpenter, of all; $/h):\n\n", title)
	for _, bout := range bouts {
		fmt.Fprintf(b, "- %d: %d and %d of %d; %s and %s", bout.Seed, bout.Ours, bout.Theirs, bout.Pods, bout.OurPrice, bout.TheirPrice)
		for _, code := range slices.Sorted(maps.Keys(bout.Broken)) {
			fmt.Fprintf(b, "; %s", code)
		}
		switch v {
		case Lucky:
			fmt.Fprintf(b, "; %s", bout.Unlucky)
		case Narrower:
			fmt.Fprintf(b, "; %s", bout.Narrow)
		}
		b.WriteString("\n")
	}
}
