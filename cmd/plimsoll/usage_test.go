package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
)

func TestWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"plan":                               "nothing to read",
		"plan shop.yaml":                     `unexpected argument "shop.yaml"; name manifests with -f`,
		"plan -f":                            "flag needs an argument",
		"plan -f x --colour":                 "unknown flag: --colour",
		"plan -f x -o xml":                   `--output "xml": want one of table, wide, json, yaml or nodeclaims`,
		"plan -f x --effort hard":            `--effort "hard": effort "hard": want fast, default, thorough or a number from 1`,
		"plan -f x --effort 0":               `--effort "0"`,
		"plan -f x --effort -3":              `--effort "-3"`,
		"plan -f x --strategy best":          `--strategy "best": want one of lowest-price`,
		"plan -f x --min-values-policy soft": `--min-values-policy "soft": want one of strict or best-effort`,
		"plan -f x --weights heavy":          `--weights "heavy": want one of strict or ignore`,
		"plan -f x --max-options -1":         `--max-options "-1": must not be negative`,
		"plan -f x --max-options many":       `--max-options "many": want a whole number`,
		"plan -f x --timeout -1s":            `--timeout "-1s": must not be negative`,
		"plan -f x --timeout soon":           `--timeout "soon": want a time such as 30s or 12h`,
		"plan -f x --capacity-types Free":    `--capacity-types "Free": `,

		"plan -f x --goal best":                                                      `--goal "best": want one of cheapest, fewest-nodes`,
		"plan -f x --alternatives --goal low-interruption":                           "--alternatives are for every goal",
		"plan -f x --alternatives -o nodeclaims":                                     "--alternatives are for every goal",
		"plan -f x --smallest-node 4":                                                `--smallest-node "4": want cpu=QUANTITY or memory=QUANTITY`,
		"plan -f x --largest-node cpu=many":                                          `--largest-node "cpu=many": "many" is not a quantity`,
		"plan -f x --largest-node cpu=0":                                             `--largest-node "cpu=0": cpu must be above 0`,
		"plan -f x --largest-node cpu=1,cpu=2":                                       `--largest-node "cpu=1,cpu=2": cpu is given twice`,
		"plan -f x --largest-node gpu=1":                                             `--largest-node "gpu=1": want cpu=QUANTITY`,
		"plan -f x --spot-types -1":                                                  `--spot-types "-1": must not be negative`,
		"plan -f x --spot-zones few":                                                 `--spot-zones "few": want a whole number`,
		"plan -f x --interruption-cost free":                                         `--interruption-cost "free": amount "free": want a decimal number of USD, like 0.5`,
		"plan -f x --interruption-cost-per-core -1":                                  `--interruption-cost-per-core "-1": amount "-1": must not be negative`,
		"plan -f x --unstated-rate 5%":                                               `--unstated-rate: counts only with --interruption-cost`,
		"plan -f x --max-workload-share half":                                        `--max-workload-share "half": want a whole percentage from 1 to 100`,
		"plan -f x --max-workload-share 0":                                           `--max-workload-share "0": want a whole percentage from 1 to 100`,
		"plan -f x --unstated-rate 101":                                              `--unstated-rate "101": want a percentage from 0% to 100%`,
		"plan -f x --unstated-rate NaN":                                              `--unstated-rate "NaN": want a percentage from 0% to 100%`,
		"explain pod/x -f x --goal best":                                             `--goal "best"`,
		"plan -f x --smallest-node cpu=3,memory=1Gi --largest-node cpu=2,memory=2Gi": "--smallest-node cpu=3: is above --largest-node cpu=2",
		"plan -f shop.yaml --filter cpu>=lot":                                        "--filter",
		"consolidate":                                                                "nothing to read",
		"consolidate x":                                                              `unexpected argument "x"; name manifests with -f`,
		"consolidate -f x -o nodeclaims":                                             `--output "nodeclaims": want one of table, wide, json, yaml or openmetrics`,
		"consolidate -f x --now today":                                               `--now "today": want a time like`,
		"consolidate -f x --reasons idle":                                            `--reasons "idle": want one of interrupted, expired`,
		"consolidate -f x --min-saving much":                                         `--min-saving "much"`,
		"consolidate -f x --min-saving -1":                                           `--min-saving "-1"`,
		"consolidate -f x --min-saving 5/day":                                        `--min-saving "5/day": want an amount per hour or per month`,
		"consolidate -f x --min-saving 500%":                                         `--min-saving "500%": want a percentage from 0% to 100%`,
		"consolidate -f x --balanced-k -1":                                           `--balanced-k "-1": must be a number from 0`,
		"consolidate -f x --balanced-k NaN":                                          `--balanced-k "NaN": must be a number from 0`,
		"consolidate -f x --node-cost +Inf":                                          `--node-cost "+Inf": must be a number from 0`,
		"consolidate -f x --steps -1":                                                `--steps "-1": must not be negative`,
		"consolidate -f x --min-lifetime -1s":                                        `--min-lifetime "-1s": must not be negative`,
		"consolidate -f x --spot-to-spot-types some":                                 `--spot-to-spot-types "some": want a whole number`,
		"consolidate -f x --effort hard":                                             `--effort "hard"`,
		"verify -f x":                                                                "no plan to verify",
		"verify -f - --plan -":                                                       "stdin cannot hold both",
		"verify x":                                                                   `unexpected argument "x"`,
		"catalog -o yaml":                                                            `--output "yaml": want one of table, wide, json or csv`,
		"catalog --sources -o json":                                                  "--sources are text; --output json has them under provenance",
		"catalog ec2/us-east-1":                                                      "name a catalog with --catalog",
		"version now":                                                                `unexpected argument "now"`,
		"plann":                                                                      `unknown command "plann"`,
		"plna -f x":                                                                  `unknown command "plna" for "plimsoll"`,
		"consolidat -f x --effort fast":                                              "Did you mean this?\n\tconsolidate\n",
		"--colour":                                                                   "unknown flag: --colour",
		"plan --file x":                                                              "unknown flag: --file (did you mean --filename?)",
		"plan -f x --out json":                                                       "unknown flag: --out (did you mean --output?)",
		"consolidate -f x --min-savings 1":                                           "unknown flag: --min-savings (did you mean --min-saving?)",
		"explain web -f x":                                                           `"web" has no kind: write deployment/web, pod/web or node/web`,
	} {
		t.Run(args, func(t *testing.T) {
			r := run(t, strings.Fields(args)...)
			require.Equal(t, exitUsage, r.code, r.stderr)
			require.Contains(t, r.stderr, want)
			require.Contains(t, r.stderr, "--help' for usage.")
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"", "--help", "help", "help plan", "plan --help", "verify -h", "catalog -h"} {
		r := run(t, strings.Fields(args)...)
		require.Equal(t, exitOK, r.code)
		require.Contains(t, r.stdout, "Usage:")
		require.Empty(t, r.stderr)
	}
	require.Contains(t, run(t).stdout, "Exit codes:")
}

func TestHelpGroupsFlagsAndFitsTheTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	for command, groups := range map[string][]string{
		"plan":        {"Input:", "Market:", "Launching nodes:", "Search:", "Output:", "Flags:"},
		"consolidate": {"Input:", "Market:", "Launching nodes:", "Removing nodes:", "Search:", "Output:", "Flags:"},
		"catalog":     {"Market:", "Output:", "Flags:"},
		"prices":      {"Input:", "Output:", "Flags:"},
	} {
		_, usage, _ := strings.Cut(run(t, command, "--help").stdout, "\nExamples:\n")
		_, flags, _ := strings.Cut(usage, "\n\n")
		var titles []string
		for line := range strings.Lines(flags) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%s", line)
			if !strings.HasPrefix(line, " ") && line != "\n" {
				titles = append(titles, strings.TrimSpace(line))
			}
		}
		require.Equal(t, groups, titles, command)
		require.True(t, strings.HasSuffix(flags, "Flags:\n  -h, --help   help for "+command+"\n"), "every other flag has a group: %s", flags)
	}
}

func TestVersion(t *testing.T) {
	r := run(t, "version")
	require.Equal(t, exitOK, r.code)
	require.True(t, strings.HasPrefix(r.stdout, "plimsoll "), r.stdout)
	require.Equal(t, r, run(t, "--version"))
}

func TestRegions(t *testing.T) {
	t.Parallel()
	r := run(t, "catalog", "--regions")
	require.Equal(t, exitOK, r.code)
	require.Contains(t, r.stdout, "ec2/us-east-1\n")
	require.Contains(t, r.stdout, "azure/eastus\n")
	require.Equal(t, strings.Join(clouds.Names(), "\n")+"\n", r.stdout, "each region is read by the tests of its cloud")
	var names []string
	require.NoError(t, json.Unmarshal([]byte(run(t, "catalog", "--regions", "-o", "json").stdout), &names))
	require.Equal(t, r.stdout, strings.Join(names, "\n")+"\n")
}

func TestCatalogIsSortedByPrice(t *testing.T) {
	r := run(t, "catalog", "--filter", "arch=arm64,cpu=8,category=m", "--capacity-types", "on-demand")
	require.Equal(t, exitOK, r.code)
	last := ""
	rows, _, _ := strings.Cut(r.stdout, "\n\n")
	for i, line := range strings.Split(rows, "\n") {
		columns := strings.Fields(line)
		if price := columns[len(columns)-1]; i > 0 {
			require.LessOrEqual(t, last, price)
			last = price
		}
	}
	require.NotEmpty(t, last)
}

func TestAFullDiskIsAnError(t *testing.T) {
	var stderr strings.Builder
	code := Run(t.Context(), []string{"version"}, nil, refusing{}, &stderr)
	require.Equal(t, exitBadInput, code)
	require.Equal(t, "error: disk full\n", stderr.String())
}

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestNumbers(t *testing.T) {
	require.Equal(t, "1,234,567.89", figures.Thousands("1234567.89"))
	require.Equal(t, "999", figures.Thousands("999"))
	require.Equal(t, "1,000", figures.Thousands("1000"))
	for share, want := range map[float64]string{0: "0%", 0.0004: "less than 0.1%", 0.0041: "0.4%", 0.05: "5%", 0.1234: "12%", 1.5: "150%"} {
		require.Equal(t, want, figures.Percent(share))
	}
	require.Equal(t, "-", figures.Ratio(1, 0))
	require.Equal(t, "50%", figures.Ratio(1, 2))
	require.Equal(t, "1.5", figures.Cores(1500))
	require.Equal(t, "0.25", figures.Cores(250))
	require.Equal(t, "100", figures.Cores(100_000))
	require.Equal(t, "1 GiB", figures.GiB(1<<30))
	require.Equal(t, "0.5 GiB", figures.GiB(1<<29))
	require.Equal(t, "1 pod", figures.Count(1, "pod"))
	require.Equal(t, "12,000 pods", figures.Count(12000, "pod"))
	require.Equal(t, "a", list([]string{"a"}))
	require.Equal(t, "a, b or c", list([]string{"a", "b", "c"}))
	require.Empty(t, list([]string{}))
}
