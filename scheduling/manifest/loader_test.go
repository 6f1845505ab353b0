package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// read reads one stream that must be free of faults.
func read(t *testing.T, text string) *manifest.Snapshot {
	t.Helper()
	s, err := manifest.Loader{}.Read("test.yaml", strings.NewReader(text))
	require.NoError(t, err)
	return s
}

// pods returns the names of the pods to be placed.
func pods(s *manifest.Snapshot) []string {
	var names []string
	for _, p := range s.Problem.Pods {
		names = append(names, p.Namespace+"/"+p.Name)
	}
	return names
}

// pod is a minimal Pod.
func pod(name string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: shop}\nspec: {containers: [{name: main}]}\n"
}

func TestFormats(t *testing.T) {
	object := func(name string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"shop"},"spec":{"containers":[{"name":"main"}]}}`
	}
	untyped := func(name string) string {
		return `{"metadata":{"name":"` + name + `","namespace":"shop"},"spec":{"containers":[{"name":"main"}]}}`
	}
	indent := func(text, with string) string {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return "- " + strings.Join(lines, "\n"+with+"  ") + "\n"
	}
	tests := map[string]string{
		"documents":                         pod("a") + "---\n" + pod("b"),
		"documents with markers all around": "---\n" + pod("a") + "---\n---\n" + pod("b") + "---\n",
		"comments and blank documents":      "# first\n\n--- # a\n" + pod("a") + "\n---\n# nothing here\n---\n" + pod("b"),
		"directives and end markers":        "%YAML 1.1\n---\n" + pod("a") + "...\n---\n" + pod("b") + "...\n",
		"Windows line ends":                 strings.ReplaceAll(pod("a")+"---\n"+pod("b"), "\n", "\r\n"),
		"byte order mark":                   "\ufeff" + pod("a") + "---\n" + pod("b"),
		"object behind the marker":          "--- " + object("a") + "\n--- " + object("b"),
		"JSON values":                       object("a") + "\n" + object("b"),
		"JSON values without space":         object("a") + object("b"),
		"JSON array":                        "[" + object("a") + "," + object("b") + "]",
		"JSON values between markers":       "---\n" + object("a") + "\n---\n" + object("b") + "\n",
		"JSON, then YAML":                   object("a") + "\n---\n" + pod("b"),
		"kubectl's JSON list":               `{"apiVersion":"v1","items":[` + object("a") + `,` + object("b") + `],"kind":"List","metadata":{"resourceVersion":""}}`,
		"the API server's JSON list":        `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[` + untyped("a") + `,` + untyped("b") + `]}`,
		"untyped items before the kind":     `{"items":[` + untyped("a") + `,` + untyped("b") + `],"apiVersion":"v1","kind":"PodList"}`,
		"list of lists": `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` +
			object("a") + `]},` + object("b") + `]}`,
		"kubectl's YAML list":       "apiVersion: v1\nitems:\n" + indent(pod("a"), "") + indent(pod("b"), "") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
		"indented YAML list":        "apiVersion: v1\nkind: List\nitems:\n  " + indent(pod("a"), "  ") + "  # between\n\n  " + indent(pod("b"), "  "),
		"YAML list in flow style":   "apiVersion: v1\nkind: List\nitems: [" + object("a") + ", " + object("b") + "]\n",
		"untyped YAML list":         "items:\n- metadata: {name: a, namespace: shop}\n  spec: {containers: [{name: c}]}\n- metadata: {name: b, namespace: shop}\n  spec: {containers: [{name: c}]}\nkind: PodList\napiVersion: v1\n",
		"quoted keys":               strings.ReplaceAll(pod("a"), "kind:", `"kind":`) + "---\n" + strings.ReplaceAll(pod("b"), "apiVersion:", `'apiVersion':`),
		"documents and empty lists": `{"kind":"List","apiVersion":"v1","items":[]}` + object("a") + `{"kind":"List","apiVersion":"v1","items":null}` + object("b"),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, []string{"shop/a", "shop/b"}, pods(read(t, text)))
		})
	}
}
