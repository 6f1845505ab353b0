package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What READMEs show of the command's output is what it prints. With -update they are
// written anew.
func TestReadmesShowWhatIsPrinted(t *testing.T) {
	block := [2]string{"```text\n", "```"}
	consolidate := waste("--effort", "default")
	for name, e := range map[string]excerpt{
		"why": {"../../README.md", "The cluster of [one example](examples/consolidate)", [2]string{"\n  ", "; and every"},
			consolidate, bill},
		"plan":         {"../../README.md", "<!-- output of the first command;", block, []string{"plan", "-f", quickstart}, firstLines},
		"consolidate":  {"../../README.md", "<!-- output of this command ", block, consolidate, firstLines},
		"alternatives": {"README.md", "plan -f examples/quickstart --alternatives --effort fast", block, []string{"plan", "-f", quickstart, "--alternatives", "--effort", "fast"}, everything},
		"lint":         {"README.md", "lint -f examples/consolidate", block, []string{"lint", "-f", "../../examples/consolidate"}, everything},
		"whatif": {"README.md", "whatif -f examples/consolidate --effort fast", block, asksOf("--case", "spot: --allow karpenter.sh/capacity-type=spot",
			"--case", "large: --smallest-node cpu=8", "--case", "Stockholm: --catalog ec2/eu-north-1"), everything},
		"headroom": {"../../examples/headroom/README.md", "plan -f examples/headroom", block, []string{"plan", "-f", "../../examples/headroom"}, everything},
		"racks": {"../../examples/racks/README.md", "plan -f examples/racks/cluster", block,
			[]string{"plan", "-f", "../../examples/racks/cluster", "--catalog", "../../examples/racks/catalog.json"}, launched},
		"spot": {"../../examples/spot/README.md", "plan -f examples/spot/cluster --placement nominated", block,
			[]string{"plan", "-f", "../../examples/spot/cluster", "--placement", "nominated"}, spotShares},
		"prices": {"../../examples/prices/README.md", "plan -f examples/prices/cluster.yaml", block,
			[]string{"plan", "-f", "../../examples/prices/cluster.yaml", "--prices", "../../examples/prices/aws-products.json", "--prices", "../../examples/prices/spot-price-history.json"}, launched},
		"commitments": {"../../examples/commitments/README.md", "consolidate -f examples/consolidate", block,
			waste("--billing", "../../examples/commitments/billing.yaml"), underBill},
	} {
		t.Run(name, func(t *testing.T) {
			if !*update { // which writes files anew one by one
				t.Parallel()
			}
			file, err := os.ReadFile(e.file)
			require.NoError(t, err)
			before, rest, found := strings.Cut(string(file), e.after)
			require.True(t, found)
			between, rest, found := strings.Cut(rest, e.marks[0])
			require.True(t, found)
			shown, rest, found := strings.Cut(rest, e.marks[1])
			require.True(t, found)
			r := run(t, e.args...)
			require.Contains(t, []int{exitOK, exitFound}, r.code, r.stderr)
			want := e.of(r.stdout, shown)
			if *update {
				text := before + e.after + between + e.marks[0] + want + e.marks[1] + rest
				require.NoError(t, os.WriteFile(e.file, []byte(text), 0o644))
				return
			}
			require.Equal(t, want, shown, "run the tests with -update if this is meant to change")
		})
	}
}

// excerpt is output that a README shows, between the first marks after some words.
type excerpt struct {
	file, after string
	marks       [2]string
	args        []string
	// of takes from what was printed the part that is shown.
	of func(printed, shown string) string
}

// firstLines takes as many lines as are shown before the ellipsis.
func firstLines(printed, shown string) string {
	lines := strings.SplitAfter(printed, "\n")
	return strings.Join(lines[:strings.Count(shown, "\n")-1], "") + "…\n"
}

// launched takes the table of launches.
func launched(printed, _ string) string {
	_, rest, _ := strings.Cut(printed, "\nLAUNCH\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	return "LAUNCH\n" + table + "\n"
}

// spotShares takes the lines about SpotPolicies and the table of launches.
func spotShares(printed, _ string) string {
	lines := regexp.MustCompile(`(?m)^.*SpotPolic.*\n`).FindAllString(printed, -1)
	return strings.Join(lines, "") + "\n" + launched(printed, "")
}

// underBill takes the bill and the use of commitments.
func underBill(printed, _ string) string {
	_, rest, _ := strings.Cut(printed, "\nBILL OF ALL NODES\n")
	tables, _, _ := strings.Cut(rest, "\n\nBLOCKED")
	return "BILL OF ALL NODES\n" + tables + "\n"
}

// everything takes all.
func everything(printed, _ string) string { return printed }

// bill says what the summary of consolidate shows by the month.
func bill(printed, _ string) string {
	amount := func(row string) string {
		return regexp.MustCompile(`(?m)^ +` + row + `(?:, [a-z ]+)? +(\d\S*)`).FindStringSubmatch(printed)[1]
	}
	return fmt.Sprintf("costs $%s a month. %s steps lead to $%s; rebuilt from scratch: $%s", amount("now"),
		regexp.MustCompile(`(?m)^\d+`).FindString(printed), amount("after these steps"), amount("rebuilt from scratch"))
}
