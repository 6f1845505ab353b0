package documents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// scanned returns the objects and faults of a text, one a line, and the number of documents.
func scanned(text string, most int64, enough int) (found []string, count int) {
	faults := 0
	at := func(p documents.Position) string { return fmt.Sprintf("%d/%d/%d", p.Document, p.Item, p.Line) }
	count = documents.Scan(&documents.Source{
		In: strings.NewReader(text), MaxBytes: most,
		Object: func(o documents.Object) {
			found = append(found, fmt.Sprintf("%s %s %s %s", at(o.At), o.APIVersion, o.Kind, o.JSON))
		},
		Fault: func(f documents.Fault) {
			faults++
			found = append(found, fmt.Sprintf("%s %q %s", at(f.At), f.Kind, f.Message))
		},
		Enough: func() bool { return faults >= enough },
	})
	return found, count
}

// Every object has its position, also in a list; items without a kind get that of their list, whether
// it stands before them or behind.
func TestScanFindsObjectsAndTheirPositions(t *testing.T) {
	const x, z = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`, `{"metadata":{"name":"z"}}`
	for text, want := range map[string][]string{
		"":        nil,
		"# a\n\n": nil,
		"# a\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\n":          {"1/-1/2 v1 Pod " + x},
		"kind: Pod\n---\n# none\n---\n" + x:                              {`1/-1/1  Pod {"kind":"Pod"}`, "2/-1/5 v1 Pod " + x},
		"apiVersion: v1\nkind: List\nitems:\n- " + x + "\n- " + x + "\n": {"1/0/4 v1 Pod " + x, "1/1/5 v1 Pod " + x},
		x + "\n" + x: {"1/-1/0 v1 Pod " + x, "2/-1/0 v1 Pod " + x},
		`{"apiVersion":"v1","kind":"PodList","items":[` + z + `]}`:                              {"1/0/0 v1 Pod " + z},
		`{"items":[` + z + `,` + x + `],"apiVersion":"v1","kind":"PodList"}`:                    {"1/1/0 v1 Pod " + x, "1/0/0 v1 Pod " + z},
		"kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: z}\nmetadata: {}\n---\n" + x: {"1/0/4 v1 Pod " + z, "2/-1/7 v1 Pod " + x},
	} {
		found, _ := scanned(text, 1<<20, 20)
		assert.Equal(t, want, found, text)
	}
}

// Text that is no object is a fault of the kind that says why.
func TestScanNamesTheKindOfAFault(t *testing.T) {
	for text, want := range map[string]string{
		"\x1f\x8b\x08":                      `0/-1/0 "not text" is compressed with gzip; unpack it first`,
		"{{ .Values.web }}":                 `0/-1/0 "template" is not a manifest (it looks like a template: render it first, for example with helm template)`,
		"NAME READY\nweb 1/1\n":             `1/-1/1 "no object" is not a Kubernetes object: begins with "NAME READY" (it looks like a listing: have kubectl print objects, with -o json or -o yaml)`,
		"kind: Pod\nkind: Pod\n":            `1/-1/2 "bad syntax" is not valid YAML: mapping key "kind" already defined`,
		`{"kind": "Pod"`:                    `1/-1/0 "bad syntax" is not valid JSON: it ends in the middle of a value (near byte 14)`,
		`{"metadata":{}}`:                   `1/-1/0 "no object" is not a Kubernetes object: it has no apiVersion and kind`,
		"kind: " + strings.Repeat("x", 100): `0/-1/0 "unreadable" the input is too large: more than 64 bytes`,
	} {
		found, _ := scanned(text, 64, 20)
		assert.Equal(t, []string{want}, found, text)
	}
}

// Scanning ends once the caller has enough faults.
func TestScanEndsWithEnoughFaults(t *testing.T) {
	text := strings.Repeat("metadata: {}\n---\n", 9)
	found, count := scanned(text, 1<<20, 20)
	assert.Len(t, found, 9)
	assert.Equal(t, 9, count)
	found, _ = scanned(text, 1<<20, 2)
	assert.Len(t, found, 2)
}

// An object above the limit of the API server is not kept.
func TestScanBoundsAnObject(t *testing.T) {
	found, _ := scanned("kind: Pod\nx: "+strings.Repeat("x", documents.MaxObjectBytes), 1<<30, 20)
	if assert.Len(t, found, 1) {
		assert.Contains(t, found[0], "larger than 4 MiB")
	}
}

func TestShortenKeepsCharactersWhole(t *testing.T) {
	assert.Equal(t, "web", documents.Shorten("web"))
	assert.Equal(t, strings.Repeat("é", 30)+"…", documents.Shorten(strings.Repeat("é", 40)))
	assert.Equal(t, "x"+strings.Repeat("é", 29)+"…", documents.Shorten("x"+strings.Repeat("é", 40)))
}
