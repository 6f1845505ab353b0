package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/samber/lo"
	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/search"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// question is the flags of a case: the cluster, the policy, and the limits of disruption.
type question struct {
	input inputFlags
	how   solverFlags
	what  plannerFlags
}

// register adds the flags to a command.
func (q *question) register(cmd *cobra.Command) {
	q.input.register(cmd)
	q.how.register(cmd)
	q.what.register(cmd)
}

// whatifFlags are all flags of whatif.
type whatifFlags struct {
	question

	cases  casesFlag
	limit  limitFlag
	format *string
}

// casesFlag are cases to compare, as 'NAME: FLAGS'.
type casesFlag []string

// register adds the flag to a command.
func (f *casesFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar((*[]string)(f), "case", nil, "a `CASE` to compare, 'NAME: FLAGS' such as 'arm64: --allow kubernetes.io/arch=arm64': its flags are added to the other flags; may be repeated")
	grouped(cmd, groupInput)
}

// register adds the flags to a command.
func (f *whatifFlags) register(a *app, cmd *cobra.Command) {
	f.question.register(cmd)
	f.cases.register(cmd)
	f.limit.register(cmd, "a case costs more than the baseline by")
	f.format = outputFlag(a, cmd, "output `FORMAT`: table, wide (a table of any width), json or yaml", "table", "wide", "json", "yaml")
}

// whatifCommand compares the price of a cluster under several settings.
func whatifCommand(a *app) *cobra.Command {
	var f whatifFlags
	cmd := &cobra.Command{
		Use:   "whatif -f FILE [-f FILE]... --case 'NAME: FLAGS'...",
		Short: "Compare the cost of a cluster in several cases",
		Long: `Whatif plans a cluster under several settings and compares the total price of its nodes, after
the steps of "plimsoll consolidate" and the launch of nodes for pending pods. The baseline has the
flags outside of the cases; each case adds flags of plan and consolidate. Flags that may be
repeated add to those of the baseline, such as -f for a new workload; other flags replace them.

Nodes that a case would not launch, such as spot with --no-spot, are replaced if that is safe. A
case with a --catalog of another region or cloud is a full rebuild there, and is compared with the
same rebuild in the cluster's own region. No difference is shown if one side leaves pods pending
that the other places, and a case that cannot change anything is marked.`,
		Example: `  plimsoll whatif -f cluster.json --case 'arm64: --allow kubernetes.io/arch=arm64' --case 'no spot: --no-spot'
  plimsoll whatif -f cluster.json --case 'team: -f team.yaml' --case 'Stockholm: --catalog ec2/eu-north-1'`,
		Args: noArguments("; name manifests with -f and cases with --case"),
		RunE: a.does(func(ctx context.Context) error {
			asked, err := questions(a, &f.question, f.cases, func(cmd *cobra.Command) *question {
				var all whatifFlags
				all.register(a, cmd)
				return &all.question
			})
			if err != nil {
				return err
			}
			outcomes, problems, err := answerCases(ctx, a, asked)
			if err != nil {
				return err
			}
			for i := range outcomes {
				f.limit.check(a, outcomes[i].DifferencePerHour)
			}
			if *f.format != "table" {
				for i := range outcomes {
					outcomes[i].Warnings = problems[i].warnOfOldPrices(outcomes[i].Warnings)
				}
				return a.encode(*f.format, "cases", whatif.Cases{Cases: outcomes})
			}
			writeOutcomes(&a.stdout, a.view, problems, outcomes)
			return nil
		}),
	}
	f.register(a, cmd)
	return cmd
}

// asked is a case with the flags that it is asked with.
type asked struct {
	question

	name  string
	words []string
	// planner is the one that the flags describe.
	planner disruption.Planner
	// problem and plan are nil if the case has not been read or planned yet.
	problem *problem
	plan    *disruption.ConsolidationPlan
}

// questions are the baseline and the cases. Their flags are read as the command's own are, all of
// which are added to a command for that.
func questions(a *app, base *question, cases casesFlag, all func(cmd *cobra.Command) *question) ([]*asked, error) {
	base.what.said.Now = base.what.now() // the same for all
	out := []*asked{{name: "baseline", question: *base}}
	for _, text := range cases {
		name, flags, found := strings.Cut(text, ":")
		c := &asked{name: strings.TrimSpace(name)}
		if !found || c.name == "" {
			return nil, usagef("--case %q: want 'NAME: FLAGS'", text)
		}
		if c.name == whatif.RebuiltHere || slices.ContainsFunc(out, func(o *asked) bool { return o.name == c.name }) {
			return nil, usagef("--case %q: a case %q exists already", text, c.name)
		}
		var err error
		if c.words, err = splitWords(flags); err != nil {
			return nil, usagef("--case %q: %w", text, err)
		}
		alone := &cobra.Command{}
		new(question).register(alone)
		if err := alone.ParseFlags(c.words); err != nil {
			return nil, usagef("--case %q: %w", text, flagError(alone, err))
		}
		if rest := alone.Flags().Args(); len(rest) > 0 {
			return nil, usagef("--case %q: unexpected argument %q", text, rest[0])
		}
		together := &cobra.Command{}
		view := a.view // which an output format may change, once
		own := all(together)
		if err := together.ParseFlags(append(slices.Clone(a.args), c.words...)); err != nil {
			return nil, usagef("--case %q: %w", text, flagError(together, err))
		}
		a.view, c.question = view, *own
		c.input.elsewhere = alone.Flags().Changed("catalog")
		c.what.said.Now = base.what.said.Now
		out = append(out, c)
	}
	return out, nil
}

// answerCases answers the questions side by side; problems are those of the outcomes, the baseline's first. The first rebuild
// elsewhere is preceded by one in the cluster's own region. Pods without a place have an exit code.
func answerCases(ctx context.Context, a *app, list []*asked) (outcomes []*whatif.Outcome, problems []*problem, err error) {
	cases, err := readCases(a, list)
	if err != nil {
		return nil, nil, err
	}
	if outcomes, err = outcomesOf(ctx, a, cases); err != nil {
		return nil, nil, err
	}
	var rebuilt *whatif.Outcome
	for _, out := range outcomes {
		if out.Name == whatif.RebuiltHere {
			rebuilt = out
			out.Against(outcomes[0], nil)
		} else {
			out.Against(outcomes[0], rebuilt)
		}
		if len(out.Unplaced)+len(out.UnplacedVirtual) > 0 {
			a.code = exitUnschedulable
		}
	}
	return outcomes, lo.Map(cases, func(c *asked, _ int) *problem { return c.problem }), nil
}

// readCases reads the problems of the cases. Before the first case in another region it adds a rebuild in the cluster's own
// region, because only that may be compared with it. If one of the cases has a bill, all have, to be compared.
func readCases(a *app, list []*asked) (cases []*asked, err error) {
	counted := map[string]bool{}
	anew := false
	for i, c := range list {
		if i > 0 {
			c.input.counted = counted
		}
		if err := readCase(a, c); err != nil {
			return nil, err
		}
		if i == 0 {
			cluster := c.problem.Cluster()
			for _, m := range costs.Machines(&cluster, nil, c.planner.Policy) {
				counted[m.Name] = true
			}
		}
		if c.problem.rebuild && !anew {
			anew = true
			here := *list[0]
			here.name, here.problem, here.plan = whatif.RebuiltHere, nil, nil
			here.input.rebuild, here.input.counted = true, counted
			if err := readCase(a, &here); err != nil {
				return nil, err
			}
			cases = append(cases, &here)
		}
		cases = append(cases, c)
	}
	if slices.ContainsFunc(cases, func(c *asked) bool { return c.problem.bills != nil }) { // --billing of one case
		for _, c := range cases {
			if c.problem.bills == nil {
				if c.problem.bills, err = bills.Apply(&c.problem.Problem, c.problem.Problem.Catalog, &billing.Input{}); err != nil {
					return nil, err
				}
			}
		}
	}
	return cases, nil
}

// readCase reads the problem of a case, unless it has been read.
func readCase(a *app, c *asked) error {
	policy, err := c.how.solver(&c.input.market)
	if err != nil {
		return within("case "+c.name, err)
	}
	c.planner = c.what.planner(policy)
	if c.problem == nil {
		a.rereadStdin()
		c.problem, err = c.input.load(a)
	}
	return err
}

// whatifQuestion is the case as a question of package whatif.
func (c *asked) whatifQuestion() *whatif.Question {
	return &whatif.Question{Planner: c.planner, Cluster: c.problem.cluster(c.planner), Grouped: c.problem.grouped, Bills: c.problem.bills}
}

// outcomesOf are the outcomes of the cases, planned in parallel, as many at once as there are processors. A case whose flags
// change nothing has the outcome of the first case, the baseline.
func outcomesOf(ctx context.Context, a *app, cases []*asked) ([]*whatif.Outcome, error) {
	base := cases[0].whatifQuestion()
	because, answers := make([]string, len(cases)), make([]answered, len(cases))
	a.searching.Store(true)
	_, _ = search.Watched(ctx, a.stderr, fmt.Sprintf("planning %s", figures.Count(len(cases), "case")), 0, func(_ context.Context, o scheduling.Observer) error {
		var wait sync.WaitGroup
		turns := make(chan struct{}, runtime.GOMAXPROCS(0))
		for i, c := range cases {
			q, against := base, (*disruption.Cluster)(nil) // of the baseline, which is compared with nothing
			if i > 0 {
				q, against = c.whatifQuestion(), &base.Cluster
				if c.name != whatif.RebuiltHere {
					because[i] = q.Unchanged(base)
				}
			}
			if because[i] != "" {
				continue
			}
			wait.Go(func() {
				turns <- struct{}{}
				defer func() { <-turns }()
				answers[i] = c.answer(ctx, o, q, against)
			})
		}
		wait.Wait()
		return nil
	})
	outcomes := make([]*whatif.Outcome, len(cases))
	for i, c := range cases {
		if because[i] != "" {
			outcomes[i] = outcomes[0].As(c.name, c.words, because[i])
			continue
		}
		x := &answers[i]
		a.stopped = cmp.Or(a.stopped, x.stopped)
		var report *verify.Report
		switch {
		case errors.As(x.err, &report):
			return nil, a.checked(x.err)
		case x.err != nil:
			return nil, x.err
		}
		outcomes[i] = x.outcome
	}
	return outcomes, nil
}

// answered is the outcome of a case, or an error; stopped names the interrupt or timeout that ended its search early, ""
// for none.
type answered struct {
	outcome *whatif.Outcome
	stopped string
	err     error
}

// answer plans a case, which asks q; base is the baseline's cluster, nil for the baseline itself.
func (c *asked) answer(ctx context.Context, o scheduling.Observer, q *whatif.Question, base *disruption.Cluster) (x answered) {
	p, watched := c.problem, *q
	watched.Planner.Observer = o
	x.stopped, x.err = search.Watched(ctx, io.Discard, c.name, c.how.timeout, func(ctx context.Context, _ scheduling.Observer) (err error) {
		if p.rebuild {
			x.outcome, err = watched.Rebuilt(ctx)
		} else {
			x.outcome, err = watched.Answer(ctx, base, c.plan)
		}
		return err
	})
	if x.err != nil {
		return x
	}
	out := x.outcome
	out.Name, out.Flags = c.name, append(out.Flags, c.words...)
	if p.rebuild {
		out.PodsMoved = p.moving
	}
	out.Warnings = mergeWarnings(p.Warnings, out.Warnings)
	return x
}

// splitWords splits flags at blanks as a shell does. Single and double quotes keep the text between them together; other
// characters have no special meaning.
func splitWords(text string) (words []string, err error) {
	var word strings.Builder
	quote, open := byte(0), false
	for i := range len(text) {
		switch r := text[i]; {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && strings.IndexByte(" \t\n", r) >= 0:
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(r)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c has no end", quote)
	}
	return words, nil
}
