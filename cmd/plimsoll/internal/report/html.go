package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

//go:embed *.tmpl
var files embed.FS

// How much of long lists a page shows; the rest is added up.
const (
	mostNodes    = 40
	mostShown    = 10 // rows of nodes that are not folded
	mostLaunches = 20
	mostSteps    = 25
	mostRows     = 12
	mostObjects  = 3
	mostCurve    = 240
	mostBars     = 300
	mostName     = 48 // characters, of names that are shown on demand
)

// HTML writes a page that loads no other file.
func (r *Report) HTML(w io.Writer) error {
	t := template.New("page").Funcs(template.FuncMap{
		"dollars": figures.Dollars, "exact": figures.DollarsAndCents, "share": share, "count": plural, "short": short, "add": func(a, b int) int { return a + b },
		"names":  func(list []string) template.HTML { return broken(figures.Names(list, mostObjects)) },
		"broken": broken, "percent": figures.Percent,
		"numbers": numbered,
		"kindDollars": func(k disruption.NodeKind) string {
			return figures.Dollars(figures.Cents(cmp.Or(k.ExpectedPerHour, k.PricePerHour)))
		},
		"fleet":  func(p page, rows []row, rest *rest, caption string) fleet { return fleet{p, caption, rows, rest} },
		"number": func(n int) string { return figures.Thousands(fmt.Sprint(n)) },
	})
	t, err := t.ParseFS(files, "page.html.tmpl", "style.css.tmpl", "palette.css.tmpl", "slider.js.tmpl")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "page.html.tmpl", page{r, suffix(r.Nodes)}); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

// page is a report as the template reads it.
type page struct {
	*Report

	// Suffix is the end that the names of all nodes share and that the page leaves out, "" for none.
	Suffix string
}

// suffix is the part from a dot on that the names of all nodes share, e.g. ".eu-west-1.compute.internal"; "" where
// there is none or only one node.
func suffix(nodes []Node) string {
	shared, found := "", 0
	for i := range nodes {
		if nodes[i].Launched > 0 {
			continue
		}
		_, after, _ := strings.Cut(nodes[i].Name, ".")
		if found++; found == 1 {
			shared = after
		} else if shared != after {
			return ""
		}
	}
	if shared == "" || found < 2 {
		return ""
	}
	return "." + shared
}

// NodeName is the name of a node without the suffix that all share.
func (p page) NodeName(name string) string { return strings.TrimSuffix(name, p.Suffix) }

// NodeNames are the names of some nodes.
func (p page) NodeNames(names []string) []string {
	return lo.Map(names, func(name string, _ int) string { return p.NodeName(name) })
}

// numbered lists the numbers of some steps.
func numbered(steps []int) string {
	return figures.Names(lo.Map(steps, func(n, _ int) string { return fmt.Sprint(n) }), 2*mostObjects)
}

// broken is a text in which lines may break after each "/" and ".".
func broken(text string) template.HTML {
	return template.HTML(strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>").Replace(template.HTMLEscapeString(text))) //nolint:gosec // escaped
}

// Today, After and Last are the cluster's price before the steps and after all of them, and the last
// point; most sentences of the page read these.
func (p page) Today() Level { return p.Levels[0] }
func (p page) After() Level { return p.Levels[1] }
func (p page) Last() Point  { return p.Points[len(p.Points)-1] }

// Headline is the saving of all steps.
func (p page) Headline() headline {
	h := headline{Planned: p.Today().Cents - p.After().Cents, Whole: p.Today().Cents}
	h.Saved = h.Planned
	if i := slices.IndexFunc(p.Levels, func(l Level) bool { return l.Code == "expected" }); i >= 0 {
		h.Saved, h.Estimate = p.Today().Cents-p.Levels[i].Cents, true
	}
	return h
}

// headline is a saving in cents per month; below 0 where the steps raise the price.
type headline struct {
	// Saved is the saving, Planned the one if every pod is scheduled as planned, Whole the price today.
	Saved, Planned, Whole int64
	// Estimate says that Saved is the one expected with other choices of kube-scheduler, which differs from Planned.
	Estimate bool
}

// Positive reports whether the steps save anything, as expected or as planned.
func (h headline) Positive() bool { return max(h.Saved, h.Planned) > 0 }

// Amount and Rest are the two parts of a sentence about the saving.
func (h headline) Amount() string {
	if h.Estimate {
		return "About " + figures.Dollars(h.Saved) + " a month"
	}
	return figures.Dollars(h.Saved) + " a month"
}
func (h headline) Rest(steps int) string {
	verb, planned := "can be saved", ""
	if h.Estimate {
		verb, planned = "is expected to be saved", " ("+figures.Dollars(h.Planned)+" a month if every pod is scheduled as planned)"
	}
	return "(" + figures.Dollars(12*h.Saved) + " a year) " + verb + ", " + share(h.Saved, h.Whole) + " of the bill, in " + plural(steps, "step") + planned + "."
}

// bar is a price of the bar chart of prices.
type bar struct {
	Level
	Label, Note string
	Width       float64 // in percent
}

// Bars are the levels.
func (p page) Bars() []bar {
	most := int64(1)
	for _, l := range p.Levels {
		most = max(most, l.Cents)
	}
	var out []bar
	for _, l := range p.Levels {
		b := bar{Level: l, Width: float64(l.Cents) / float64(most) * 100}
		switch l.Code {
		case "today":
			b.Label, b.Note = "Today", plural(l.Nodes, "node")
		case "after":
			b.Label, b.Note = "After "+plural(len(p.Steps), "step"), plural(l.Nodes, "node")
			if len(p.Steps) == 0 {
				continue
			}
		case "expected":
			b.Label, b.Note = "Expected after scheduling", plural(l.Nodes, "node")+", with other choices of kube-scheduler"
		case "least":
			b.Label, b.Note = "Lower bound by consolidation", "given the nodes that cannot be removed"
		case "rebuilt":
			b.Label, b.Note = "Rebuilt from scratch", plural(l.Nodes, "node")+", if every pod could be moved: "+l.types()
		case "alternative":
			b.Label, b.Note = "Rebuilt of any current type", plural(l.Nodes, "node")+", if the groups had them: "+l.types()
		}
		out = append(out, b)
	}
	return out
}

// types lists the instance types of a rebuilt cluster, with the number of nodes of each.
func (l *Level) types() string {
	counts := map[string]int{}
	for _, k := range l.Composition {
		counts[k.InstanceType] += k.Nodes
	}
	return figures.Summarise(counts, mostTypes)
}

// mostTypes is the largest number of instance types that a line names.
const mostTypes = 4

// Bands are the nodes today and after all steps, in a field of 1000 by 100.
func (p page) Bands() []band {
	whole := max(p.Today().PerHour, p.After().PerHour)
	today := band{Title: "Today", Amount: figures.Dollars(p.Today().Cents)}
	today.Areas, today.Taken = p.paint(0, whole, 1000, 100)
	today.Tips = p.tips(0, whole, p.NodeName)
	if len(p.Steps) == 0 {
		return []band{today}
	}
	after := band{Title: "After all steps", Amount: figures.Dollars(p.After().Cents)}
	after.Areas, after.Taken = p.paint(len(p.Steps), whole, 1000, 100)
	after.Tips = p.tips(len(p.Steps), whole, p.NodeName)
	return []band{today, after}
}

// Legend names the colours.
func (p page) Legend() []entry { return p.legend() }

// Reached are the points, for the slider: cents, nodes, pods moved and launches.
func (p page) Reached() string {
	parts := make([]string, len(p.Points))
	for i, x := range p.Points {
		parts[i] = fmt.Sprintf("%d,%d,%d,%d", x.Cents, x.Nodes, x.Moved, x.Launches)
	}
	return strings.Join(parts, ";")
}

// curve is savings against moves, in a field of 1000 by 100.
type curve struct {
	Path, Area string
	Moved      int
	Saved      int64
	Low        int64 // the least that is saved on the way, at most 0
	Across, Up []tick
}

// tick is a value on an axis, at a place in percent.
type tick struct {
	At   float64
	Text string
}

// ticks are at most six round values from 0 to a limit, at most the limit.
func ticks(limit int64) (out []int64) {
	step := int64(1)
	for k := 0; limit/step > 5; k++ {
		step = step * []int64{2, 5, 2}[k%3] / []int64{1, 2, 1}[k%3]
	}
	for v := int64(0); v <= limit; v += step {
		out = append(out, v)
	}
	return out
}

// Curve is the way of the steps.
func (p page) Curve() *curve {
	c := &curve{Moved: max(p.Last().Moved, 1)}
	for _, x := range p.Points {
		c.Saved, c.Low = max(c.Saved, p.Today().Cents-x.Cents), min(c.Low, p.Today().Cents-x.Cents)
	}
	if len(p.Points) < 3 || c.Saved == c.Low {
		return nil
	}
	every := (len(p.Points) + mostCurve - 1) / mostCurve
	var line strings.Builder
	for i, x := range p.Points {
		if i%every != 0 && i != len(p.Points)-1 {
			continue
		}
		fmt.Fprintf(&line, "%s%s %s", map[bool]string{true: "M", false: "L"}[i == 0], short(1000*float64(x.Moved)/float64(c.Moved)),
			short(100-100*float64(p.Today().Cents-x.Cents-c.Low)/float64(c.Saved-c.Low)))
	}
	for _, v := range ticks(int64(c.Moved)) {
		c.Across = append(c.Across, tick{100 * float64(v) / float64(c.Moved), figures.Thousands(fmt.Sprint(v))})
	}
	for _, v := range ticks(c.Saved / 100) {
		c.Up = append(c.Up, tick{100 * float64(100*v-c.Low) / float64(c.Saved-c.Low), "$" + figures.Thousands(fmt.Sprint(v))})
	}
	c.Path = line.String()
	c.Area = c.Path + "L1000 100L0 100z"
	return c
}

// Listed are the steps that are shown, Unlisted is the rest added up.
func (p page) Listed() []Step { return p.Steps[:min(len(p.Steps), mostSteps)] }

// Unlisted is the sum of the steps beyond mostSteps: their number, saving and moved pods; nil for none.
func (p page) Unlisted() *Step {
	if len(p.Steps) <= mostSteps {
		return nil
	}
	rest := Step{}
	for _, s := range p.Steps[mostSteps:] {
		rest.SavingCents += s.SavingCents
		rest.Pods += s.Pods
		rest.Waves++
	}
	return &rest
}

// Launched lists the instance types that a step launches, with their numbers.
func (s Step) Launched() string {
	counts := map[string]int{}
	for _, l := range s.Launches {
		counts[l]++
	}
	return cmp.Or(figures.Summarise(counts, 2), "–")
}

// account is a breakdown with the overhead and the total.
type account struct {
	By       string
	Label    bool // that By is a label's key
	Whole    bool // that rows include overhead
	Rows     []line
	Overhead []line
	Total    Row
}

// line is a row with its bar.
type line struct {
	Row
	Width float64
}

// Accounts are the breakdowns, with their long tails added up.
func (p page) Accounts() []account {
	var out []account
	for i, b := range slices.Concat(p.Costs.NodeBreakdowns, p.Costs.Breakdowns) {
		overhead := p.Costs.Overhead
		if i < len(p.Costs.NodeBreakdowns) {
			overhead = nil
		}
		a := account{By: b.By, Label: !slices.Contains([]string{"NodePool", "instance type", "namespace", "workload"}, b.By), Whole: overhead == nil, Total: Row{"Bill", p.Today().Cents, p.After().Cents}}
		rows := slices.Clone(b.Rows)
		if len(rows) > mostRows+1 {
			tail := Row{}
			for _, r := range rows[mostRows:] {
				tail.Today += r.Today
				tail.After += r.After
			}
			tail.Name = plural(len(rows)-mostRows, "other")
			rows = append(rows[:mostRows:mostRows], tail)
		}
		widest := int64(1)
		for _, r := range slices.Concat(rows, overhead) {
			widest = max(widest, r.Today)
		}
		for _, r := range rows {
			if r.Name == "" {
				r.Name = "(none)"
			}
			a.Rows = append(a.Rows, line{r, 100 * float64(r.Today) / float64(widest)})
		}
		for _, r := range overhead {
			if r.Today != 0 || r.After != 0 {
				a.Overhead = append(a.Overhead, line{r, 100 * float64(r.Today) / float64(widest)})
			}
		}
		out = append(out, a)
	}
	return out
}

// outcome is a part of the pending pods.
type outcome struct {
	Text string
	Pods int
}

// Outcomes are the parts of the pending pods, without empty ones.
func (p page) Outcomes() (out []outcome) {
	w := p.Pending
	for _, o := range []outcome{
		{"fit on existing nodes", w.Existing}, {"need " + plural(w.Launches, "new node"), w.Launched}, {"held by scheduling gates", w.Gated},
		{"fit on no node: " + figures.Names(w.Unschedulable, mostObjects) + " (plimsoll plan explains why)", len(w.Unschedulable)},
	} {
		if o.Pods > 0 {
			out = append(out, o)
		}
	}
	return out
}

// LintListed are the findings of lint that are shown, LintMore is the number of further ones.
func (p page) LintListed() []lint.Finding { return p.Lint[:min(len(p.Lint), mostSteps)] }
func (p page) LintMore() int              { return max(len(p.Lint)-mostSteps, 0) }

// Noticed are the warnings, by message.
func (p page) Noticed() []noticed { return noticedIn(p.Warnings, false) }

// Assumed are the notes on the input, by message.
func (p page) Assumed() []noticed { return noticedIn(p.Warnings, true) }
