package gaps

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Header is the head of the table of instances.
func Header() string {
	return table.Head("instance", "fast: $/h:", "gap:", "default: $/h:", "gap:", "thorough: $/h:", "gap:", "cheapest other planner", "$/h:", "÷ fast:")
}

// Row is the line of one instance: price and gap at each of our efforts, beside the
// cheapest other planner that places as many pods.
func Row(f *Finding) string {
	cells := []any{f.Instance.Name}
	for _, effort := range []string{"plimsoll fast", "plimsoll", "plimsoll thorough"} {
		r, ok := f.at(effort)
		switch price := fmt.Sprintf("%.3f", r.Price.USD()); {
		case !ok:
			cells = append(cells, "–", "–")
		case differ(Gap(r), r.Gap):
			cells = append(cells, price, fmt.Sprintf("%s (says %s)", percent(Gap(r)), percent(r.Gap)))
		default:
			cells = append(cells, price, percent(Gap(r)))
		}
	}
	best, ok := f.cheapest()
	if !ok {
		return table.Line(append(cells, "–", "–", "–")...)
	}
	fast, _ := f.at("plimsoll fast")
	return table.Line(append(cells, best.Peer, fmt.Sprintf("%.3f", best.Price.USD()), table.Number(table.Quotient(best.Price.USD(), fast.Price.USD()), 4, ""))...)
}

func (f *Finding) at(effort string) (peer.Result, bool) {
	for _, r := range f.Ours {
		if r.Peer == effort {
			return r, true
		}
	}
	return peer.Result{}, false
}

// cheapest is the least price of another planner that places no fewer pods than we do
// at any effort.
func (f *Finding) cheapest() (peer.Result, bool) {
	placed := 0
	for _, r := range f.Ours {
		placed = max(placed, r.Placed)
	}
	var best peer.Result
	price := offerings.Price(0)
	found := false
	for _, r := range f.Others {
		if r.Placed >= placed && (!found || r.Price < price) {
			best, price, found = r, r.Price, true
		}
	}
	return best, found
}

// Summary writes the spread of the gaps, and every loss; it returns what a strict run
// fails for.
func Summary(b *strings.Builder, findings []*Finding) []string {
	var faults []string
	b.WriteString(table.Head("gaps from 1,000 pods on", "instances:", "median:", "allowed:", "largest:", "allowed:", "where"))
	for _, l := range limits() {
		s := l.measure(findings)
		if s.n == 0 {
			continue
		}
		kind := map[bool]string{false: "without ties", true: "with ties"}[s.tied]
		b.WriteString(table.Line(s.effort+", "+kind, s.n, percent(s.middle), allowed(s.median), percent(s.largest), allowed(s.max), s.worst))
		faults = append(faults, s.faults()...)
	}
	var lost, foul []string
	for _, f := range findings {
		for _, l := range f.Losses {
			if len(l.Broken) > 0 {
				foul = append(foul, l.String())
			} else {
				lost = append(lost, l.String())
			}
		}
	}
	list(b, "Another planner places more pods, or as many for less", lost)
	list(b, "Another planner does so against the rules", foul)
	list(b, "More effort costs more", dearer(findings))
	list(b, "Gaps over what is allowed", faults)
	return append(lost, faults...)
}

// dearer says where a plan of more effort costs more than one of less, and places no more.
func dearer(findings []*Finding) []string {
	var out []string
	for _, f := range findings {
		for i := 1; i < len(f.Ours); i++ {
			if less, more := f.Ours[i-1], f.Ours[i]; beats(less, more) {
				out = append(out, fmt.Sprintf("%s: %s costs %s, %s %s", f.Instance.Name, more.Peer, more.Price, less.Peer, less.Price))
			}
		}
	}
	return out
}

func allowed(x float64) string { return table.Number(100*x, 2, " %") }

func list(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "\n%s: %d\n", title, len(lines))
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n- %s\n", strings.Join(lines, "\n- "))
	}
}
