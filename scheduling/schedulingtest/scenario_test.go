package schedulingtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scenario file consists of comments, which are lines that start with #, and of
// blocks with blank lines between them. A block is a command with its input, a
// line of four hyphens, and the output of the command:
//
//	# A reserved machine is used up before spot is bought.
//	catalog
//	m6.large cpu=2 memory=8Gi reserved@a=0.02x1 spot@a=0.03 on-demand@a=0.10
//	----
//	1 type, 3 offerings
//
//	pods
//	4 x web cpu=1 memory=2Gi
//	----
//	4 pods
//
//	solve
//	----
//	default-1  m6.large  reserved@a  0.02/h  web x2
//	default-2  m6.large  spot@a      0.03/h  web x2
//	cost 0.05/h  bound 0.05/h  optimal
//
// The commands of a file change one problem, in order. Each of these commands replaces the
// objects of an earlier one of the same name, except pool, which replaces the pool of its name:
//
//	catalog [pool=NAME]
//	TYPE RESOURCE=QUANTITY… [arch=ARCH] [os=OS] [label=(KEY=VALUE…)]
//	    [reserve=(RESOURCE=QUANTITY…)] OFFERING…
//
//	pool NAME [weight=N] [limits=(RESOURCE=QUANTITY…)] [replicas=N] [none]
//	    [where=(REQUIREMENT, …)]… [taint=TAINT]… [startup=TAINT]… [label=(KEY=VALUE…)]
//
//	pods
//	[N x] NAME POD-WORD…
//
//	nodes
//	NAME [type=TYPE zone=ZONE capacity-type=CT] [pool=NAME] [RESOURCE=QUANTITY…]
//	    [label=(KEY=VALUE…)] [without=KEY]… [taint=TAINT]… [in-flight] [deleting] [disrupted] [cordoned]
//
//	running
//	[N x] NAME on=NODE [daemon=DAEMONSET] [done] [deleting] POD-WORD…
//
//	daemonset
//	NAME POD-WORD…
//
//	unavailable
//	TYPE ZONE CAPACITY-TYPE
//
//	claims
//	[N x] NAME [ns=NS] [class=CLASS] [volume=VOLUME] [half-bound=VOLUME] [mode=rwo|rwx|rox|rwop]
//	    [of-pod=POD] [lost] [deleting]
//
//	volumes
//	[N x] NAME [where=(REQUIREMENT, …)]… [driver=DRIVER] [class=CLASS] [deleting]
//
//	classes
//	NAME [where=(KEY in VALUE…, …)]… [driver=DRIVER] [immediate] [default[=MINUTE]]
//
//	csi-nodes
//	NODE DRIVER[=N]…
//
//	namespaces
//	NAME [label=(KEY=VALUE…)]
//
//	services
//	NAME [ns=NS] [of=(KEY=VALUE…)]
//
//	owners
//	replicaset|statefulset|controller/NAME [ns=NS] [of=(SELECTOR)]
//
//	default-spread
//	KEY [skew=N] [min=N] [soft]
//
// These plan the problem, and judge the plan by package verify:
//
//	solve [effort=fast|default|thorough|N] [max-options=N] [min-values=POLICY]
//	    [weights=POLICY] [preferences=POLICY] [preference-price=USD] [strategy=NAME]
//	    [order=CT,…] [priorities=(TYPE…)] [no-spot] [smallest=(RESOURCE=QUANTITY…)]
//	    [largest=(RESOURCE=QUANTITY…)] [node-overhead=USD] [interruption=USD] [interruption-per-core=USD]
//	    [unstated-rate=N%] [spot-options=N] [spot-types=N] [spot-families=N] [spot-zones=N]
//	    [workload-share=N%] [show=(DETAIL…)]
//
//	verify
//
// The words about pods are
//
//	RESOURCE=QUANTITY  limits=(…)  container=(…)  init=(…)  sidecar=(…)  overhead=(…)
//	pod-level=(…)  where=(REQUIREMENT, …)  prefer=(REQUIREMENT, … [, weight N])
//	select=(KEY=VALUE…)  tolerate=TOLERATION  port=[IP:]PORT[/PROTOCOL]  priority=N  ns=NAME
//	label=(KEY=VALUE…)  owner=KIND/NAME  claim=CLAIM  ephemeral=(NAME [class=CLASS] [mode=MODE])
//	spread=(KEY [of=(SELECTOR)] [skew=N] [min=N] [soft] [affinity=POLICY] [taints=POLICY] [same=KEY]…)
//	near=(KEY [of=(SELECTOR)] [weight=N] [ns=(NAME…)] [ns-of=(SELECTOR)] [same=KEY]… [other=KEY]…)
//	apart=(the same as near)
//
// spread is a topology spread constraint, hard unless it says soft; near and apart are
// pod affinity and anti-affinity, required unless they have a weight. They are about the
// pods with all the labels of this one unless of= has a selector; of=none is a term
// without a selector, and of=() one that selects every pod. ns= and ns-of= are the
// namespaces, same= and other= are matchLabelKeys and mismatchLabelKeys, and the policies
// are honor and ignore. A selector is a list of KEY=VALUE… and of conditions in, not in,
// exists and absent, separated by commas:
//
//	3 x web cpu=1 label=(app=web) spread=(zone) apart=(host of=(app in db cache) weight=50)
//
// In the name of a claim, # stands for the part of the pod's name after its last hyphen.
//
// Several where= of a pod are terms of which one must hold, and so are those of a volume
// and of a storage class. A requirement is one of
//
//	KEY in VALUE…   KEY not in VALUE…   KEY exists   KEY absent
//	KEY > N   KEY < N   KEY >= N   KEY <= N
//
// and on a pool may end in "min N", its minValues. The keys zone, arch, os, type,
// host, capacity-type, reservation and pool, and the resources disk and gpu, are short
// for the long names; a key in double quotes stands for itself. A taint is
// KEY[=VALUE]:EFFECT; a toleration is KEY[=VALUE][:EFFECT], with > or < in the place
// of = to compare numbers, or * for every taint. An offering is
// CAPACITY-TYPE@ZONE=PRICE, then xN (the machines left) or xN/M (the amount left, and that
// of one machine) and #ID for reservations, ~N% for the interruption rate, ! for offerings that are not on sale now, +(RESOURCE=QUANTITY…)
// for the capacity of its nodes in place of the type's, and -(RESOURCE=QUANTITY…) for
// the part of it that the system reserves, in place of the type's. The details
// that solve can show are options, requests, labels, taints, requirements, reasons,
// fixes and warnings.
//
// A line of input is one object: it does not continue on the next line, except that
// of pool, which may. Errors are printed, too, behind "error: ". Every solve checks
// silently what [Audit] checks, with one processor and with eight.

var rewrite = flag.Bool("rewrite", false, "write the output of scenarios anew")

// Each scenario begins with a comment on the rule that it shows, and has the plan that follows from it. With -rewrite, files
// whose output differs are written anew instead of failing.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runFile(t, file) })
	}
}

func runFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script, err := parseScript(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, r := range script.run(t.Context()) {
		for _, err := range r.broken {
			t.Errorf("%s:%d: %v", file, r.block.line, err)
		}
		if r.got == r.block.want {
			continue
		}
		if !*rewrite {
			t.Errorf("%s:%d: %s\nwant:\n%s\ngot:\n%s", file, r.block.line, r.block.lines[0], r.block.want, r.got)
		}
		r.block.want = r.got
	}
	if out := script.String(); *rewrite && out != string(text) {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// result is the output of a block, and the promises that its plan broke.
type result struct {
	block  *block
	got    string
	broken []error
}

// run runs all blocks of the script in order.
func (s *script) run(ctx context.Context) []result {
	session := newSession()
	var results []result
	for _, p := range s.parts {
		if p.block == nil {
			continue
		}
		r := result{block: p.block, got: session.run(ctx, p.block), broken: session.broken}
		session.broken = nil
		results = append(results, r)
	}
	return results
}

// runScenario runs the text of one scenario and returns it with the output that
// the commands give now. The error joins every promise that a plan did not keep,
// and says when the text is no scenario.
func runScenario(ctx context.Context, text string) (string, error) {
	script, err := parseScript(text)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, r := range script.run(ctx) {
		r.block.want = r.got
		errs = append(errs, r.broken...)
	}
	return script.String(), errors.Join(errs...)
}

// separator stands between a command and its expected output.
const separator = "----"

// script is a scenario file: comments and blank lines as they are, and blocks.
type script struct{ parts []part }

// part is a block, or a line that means nothing to the runner.
type part struct {
	text  string
	block *block
}

// block is one command of a script.
type block struct {
	line  int      // of the command, from 1
	lines []string // the command and its input, without comments
	raw   []string // the same with comments
	want  string   // the expected output, without a final line break
}

// parseScript reads a scenario file.
func parseScript(text string) (*script, error) {
	var s script
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		if blankOrComment(lines[i]) {
			s.parts = append(s.parts, part{text: lines[i]})
			i++
			continue
		}
		b := &block{line: i + 1}
		for ; i < len(lines) && lines[i] != separator; i++ {
			if strings.TrimSpace(lines[i]) == "" {
				return nil, fmt.Errorf("line %d: the command of line %d lacks its %s", i+1, b.line, separator)
			}
			b.raw = append(b.raw, lines[i])
			if !blankOrComment(lines[i]) {
				b.lines = append(b.lines, lines[i])
			}
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: the command lacks its %s", b.line, separator)
		}
		var want []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
			want = append(want, lines[i])
		}
		b.want = strings.Join(want, "\n")
		s.parts = append(s.parts, part{block: b})
	}
	return &s, nil
}

func blankOrComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

// String is the text of the file.
func (s *script) String() string {
	var b strings.Builder
	for _, p := range s.parts {
		if p.block == nil {
			b.WriteString(p.text + "\n")
			continue
		}
		for _, line := range p.block.raw {
			b.WriteString(line + "\n")
		}
		b.WriteString(separator + "\n")
		if p.block.want != "" {
			b.WriteString(p.block.want + "\n")
		}
	}
	return b.String()
}
