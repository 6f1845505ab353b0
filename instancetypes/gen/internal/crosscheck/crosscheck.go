package crosscheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Pair is the two prices of one offering in two sources.
type Pair struct {
	Region, Type, CapacityType string
	Ours, Theirs               offerings.Price
}

// Differs reports whether the prices differ by more than one in a hundred of the other source's.
func (p Pair) Differs() bool {
	off := 100 * (p.Ours - p.Theirs)
	return max(off, -off) > p.Theirs
}

// Report is a comparison of two sources.
type Report struct {
	// Cloud, Ours and Theirs name the cloud and the two sources; Note is a remark for the report.
	Cloud, Ours, Theirs, Note string
	// Pairs are in order of region.
	Pairs []Pair
}

// Differing counts the pairs that differ.
func (r Report) Differing() (n int) {
	for _, p := range r.Pairs {
		if p.Differs() {
			n++
		}
	}
	return n
}

// Markdown writes the report: a table of regions, and one of the prices that differ.
func (r Report) Markdown() string {
	var b strings.Builder
	agree := len(r.Pairs) - r.Differing()
	fmt.Fprintf(&b, "# Prices of %s in two sources\n\nWritten by the command in instancetypes/gen.\n\n", r.Cloud)
	fmt.Fprintf(&b, "- embedded: %s\n- compared with: %s\n\n", r.Ours, r.Theirs)
	fmt.Fprintf(&b, "Of %d prices that both have, %d (%.2f %%) agree within 1 %%. %s\n\n", len(r.Pairs), agree, 100*float64(agree)/float64(max(len(r.Pairs), 1)), r.Note)
	b.WriteString("| region | prices of both | within 1 % |\n|---|---|---|\n")
	for i := 0; i < len(r.Pairs); {
		region, from, differ := r.Pairs[i].Region, i, 0
		for ; i < len(r.Pairs) && r.Pairs[i].Region == region; i++ {
			if r.Pairs[i].Differs() {
				differ++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", region, i-from, i-from-differ)
	}
	if agree == len(r.Pairs) {
		return b.String()
	}
	b.WriteString("\n| differs | region | capacity type | embedded | other source |\n|---|---|---|---|---|\n")
	for _, p := range slices.SortedStableFunc(slices.Values(r.Pairs), func(a, b Pair) int { return strings.Compare(a.Type, b.Type) }) {
		if p.Differs() {
			fmt.Fprintf(&b, "| %s | %s | %s | %v | %v |\n", p.Type, p.Region, p.CapacityType, p.Ours, p.Theirs)
		}
	}
	return b.String()
}
