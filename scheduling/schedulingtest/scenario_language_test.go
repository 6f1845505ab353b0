package schedulingtest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// output returns the output of the last block of a scenario.
func output(t *testing.T, text string) string {
	t.Helper()
	out, err := runScenario(t.Context(), text)
	require.NoError(t, err)
	_, last, _ := strings.Cut(out[strings.LastIndex(out, "\n\n")+1:], separator+"\n")
	return strings.TrimRight(last, "\n")
}

// The example in the comment on the language is a scenario with the output that it states.
func TestLanguageCommentIsTrue(t *testing.T) {
	source, err := os.ReadFile("scenario_test.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(source), "//\t# A reserved machine")
	require.True(t, ok)
	rest = "//\t# A reserved machine" + rest
	var want strings.Builder
	for line := range strings.Lines(rest) {
		code, isCode := strings.CutPrefix(line, "//\t")
		if !isCode && strings.TrimSpace(line) != "//" {
			break
		}
		if !isCode {
			code = "\n"
		}
		want.WriteString(code)
	}
	text := strings.TrimRight(want.String(), "\n") + "\n"
	got, err := runScenario(t.Context(), text)
	require.NoError(t, err)
	assert.Equal(t, text, got)
}

func TestCommandErrors(t *testing.T) {
	const catalog = "catalog\nm cpu=1 memory=1Gi spot@a=0.1\n----\n\n"
	tests := map[string]string{
		"dance\n----":                             `error: unknown command "dance"`,
		"catalog\nm cpu=much\n----":               "error: m: cpu=much: quantities must match",
		"catalog\nm cpu=1 spot@a=x\n----":         "error: m: offering spot@a=x:",
		"catalog\nm colour=blue\n----":            `error: m: unexpected word "colour=blue"`,
		"catalog zone=a\n----":                    `error: unexpected word "zone=a"`,
		"pool\n----":                              "error: want the pool's name",
		"pool p colour=blue\n----":                `error: unexpected word "colour=blue"`,
		"pool p weight=heavy\n----":               "error: strconv.ParseInt",
		"pods now\n----":                          `error: unexpected word "now"`,
		"pods\nweb cpu=1 colour=blue\n----":       `error: web: unexpected word "colour=blue"`,
		"running\nweb cpu=1\n----":                "error: web: want on=NODE",
		"nodes\nn1 type=m zone=a\n----":           "error: n1: a node of a type needs a catalog",
		catalog + "nodes\nn1 type=x zone=a\n----": `error: n1: type "x" is not in the catalog`,
		catalog + "nodes\nn1 type=m zone=a\n----": `error: n1: type m is not sold as on-demand in zone "a"`,
		"nodes\nn1 flying\n----":                  `error: n1: unexpected word "flying"`,
		"daemonset\n3 x\n----":                    `error: 3: unexpected word "x"`,
		"unavailable\nm a\n----":                  "error: m: want TYPE ZONE CAPACITY-TYPE",
		"solve fast\n----":                        `error: unexpected word "fast"`,
		"solve effort=much\n----":                 "error: effort \"much\": want fast",
		"solve strategy=hope\n----":               "error: ",
		"verify\n----":                            "error: there is no plan",
	}
	for text, want := range tests {
		assert.Contains(t, output(t, text), want, text)
	}
}

func TestScenariosRefuseOtherText(t *testing.T) {
	_, err := runScenario(t.Context(), "solve")
	assert.ErrorContains(t, err, "lacks its ----")
}

// A solve prints launches of one kind on one line, and everything that is asked for.
func TestRender(t *testing.T) {
	out := output(t, `catalog
m.large cpu=2 memory=8Gi on-demand@a=0.1
----

pool default taint=t:NoSchedule startup=s:NoSchedule where=(team exists)
----

pods
4 x web cpu=1500m memory=1Gi tolerate=*
huge cpu=64 tolerate=*
silent tolerate=*
----

solve show=(options requests labels taints requirements reasons fixes warnings)
----
`)
	for _, want := range []string{
		"default-1..3 ", "web\n", "silent, web\n", "  option m.large on-demand@a 0.1/h", "  requests cpu=1500m memory=1Gi pods=1", "  label team=",
		"  taint t:NoSchedule", "  startup taint s:NoSchedule", "  requires karpenter.sh/nodepool In [default]",
		"unschedulable huge: ", "  resources x1: ", "  fix: ", "warning default/silent: ", "cost 0.4/h  bound ",
	} {
		assert.Contains(t, out, want)
	}
}
