package layering

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// privatePhrases are phrases that once stood in texts for users and that only this repository used, each with the words
// of Kubernetes and Karpenter for it. They must not come back into texts of the command, or into documents.
func privatePhrases() map[string]string {
	return map[string]string{
		`\bmachines? (to buy|is bought|are bought|that are there)`: "nodes to launch, existing nodes",
		`\b(buys?|bought|buying)\b`:                                "launch",
		`\banew\b`:                                                 "from scratch, again",
		`\b(lands?|landed) (on|elsewhere)`:                         "is scheduled or rescheduled to",
		`\bcomes? to\b`:                                            "total",
		`\bwhat keeps\b`:                                           "blocked by",
		`\bthe least that\b`:                                       "lower bound",
		`\bpods that wait\b`:                                       "pending pods",
		`\bgone for good\b`:                                        "would not be recreated",
		`\blets no pod go\b`:                                       "blocked by a PodDisruptionBudget",
		`\bthat may not go\b`:                                      "that cannot be removed",
		`\bnothing is to be done\b`:                                "nothing to consolidate",
		`\bkube-scheduler (has bound .*as it likes|choose otherwise)`: "after scheduling, breaks ties differently",
		`\bwhere it (goes|stops paying)\b`:                            "capacity, diminishing returns",
		`\bcheaper, but$`:                                             "cheaper but not eligible",
		`\btake(s|n)? in pods of others\b`:                            "needed for rescheduled pods",
		`\b(asks?|talks to) no cluster\b`:                             "runs offline",
		`\bwhoever pays the bill\b`:                                   "cost report",
		`\bleave the house\b`:                                         "for sharing",
		`\btaken away\b`:                                              "interrupted",
		`\bon sale\b`:                                                 "candidates, instance types",
		`\bwhat is there\b|\bthat is there\b|\bthat are there\b`:      "existing",
		`\bzones assigned\b`:                                          "zones estimated",
		`\bholds by itself\b`:                                         "complete and verified",
		`\bbeside machines\b`:                                         "node overhead",
		`\bdear(er|est)?\b`:                                           "more expensive",
		`\bmade with\b`:                                               "assumptions",
		`\bwhat lifts it\b`:                                           "how to fix",
		`\bleast by any steps\b`:                                      "lower bound by consolidation",
		`\bmachines? (is|are) launched\b`:                             "nodes launched",
		`\b(that|which) goe?s? later\b`:                               "that will be removed",
		`\bsafe steps come out\b|\beach rule that holds\b`:            "steps in a safe order, blocked savings",
		`\bhow nodes have drifted\b`:                                  "drifted nodes",
		`\bis away for a while\b`:                                     "brief downtime",
		`\bpolicy excludes it\b`:                                      "consolidationPolicy",
		`\bno cheaper move\b`:                                         "no cheaper alternative",
		`\b(is|in) another place\b`:                                   "different region",
		`\bcosts?, and could cost\b`:                                  "cost report",
		`\bthe way (there|of a pod)\b`:                                "consolidation plan, life of a pod",
		`\bsomebody asks for\b`:                                       "requested",
		`\bhow the house\b`:                                           "architecture",
		`\bto have it\b`:                                              "installation",
		`\blay the prices\b`:                                          "override catalog prices",
		`\b(calm|inflexible)\b`:                                       "low-interruption, not diversified",
	}
}

// TestTextsUseTheWordsOfReaders reads the texts of the command, all documents, and the comments of the public API.
func TestTextsUseTheWordsOfReaders(t *testing.T) {
	texts := commandTexts(t)
	require.Greater(t, len(texts), 50)
	namesItsNouns(t, "the texts of the command", strings.Join(slices.Concat(slices.Collect(maps.Values(texts))...), " "))
	for name, text := range documents(t) {
		texts[name] = []string{text}
	}
	maps.Copy(texts, publicComments(t))
	phrases := map[*regexp.Regexp]string{}
	for phrase, better := range privatePhrases() {
		phrases[regexp.MustCompile(phrase)] = better
	}
	for file, list := range texts {
		for _, text := range list {
			lower := strings.ToLower(text)
			for phrase, better := range phrases {
				assert.Empty(t, phrase.FindAllString(lower, -1), "%s: say %s", file, better)
			}
		}
	}
}

// TestDocumentsNameTheirNouns holds how often documents say "what": each of them, and all together.
func TestDocumentsNameTheirNouns(t *testing.T) {
	var all strings.Builder
	for name, text := range documents(t) {
		if len(wordPattern().FindAllString(strings.ToLower(text), -1)) >= fewestWords {
			namesItsNouns(t, name, text)
		}
		all.WriteString(text)
	}
	namesItsNouns(t, "all documents", all.String())
}

// namesItsNouns checks how often a text says "what".
func namesItsNouns(t *testing.T, name, text string) {
	t.Helper()
	words := wordPattern().FindAllString(strings.ToLower(text), -1)
	whats := len(slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word != "what" }))
	assert.LessOrEqual(t, 1000*whats, mostWhats*len(words), `%s: "what" %d times in %d words: name the thing`, name, whats, len(words))
}

// commandTexts are the strings with a blank in the sources of the command and of the plugin, by file.
func commandTexts(t *testing.T) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) || !strings.HasPrefix(s.pkg, "cmd/plimsoll") && s.pkg != "cmd/kubectl-plimsoll" {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, " ") {
					texts[s.file] = append(texts[s.file], text)
				}
			}
			return true
		})
	}
	return texts
}

// publicComments are the comments of public packages that the reference of the site shows, by file: of packages, and of
// exported declarations and fields.
func publicComments(t *testing.T) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) || !slices.ContainsFunc(publicTrees(), func(tree string) bool { return s.pkg == tree || strings.HasPrefix(s.pkg, tree+"/") }) ||
			strings.Contains(s.pkg, "internal") {
			continue
		}
		add := func(comment *ast.CommentGroup, names ...*ast.Ident) {
			if comment != nil && (len(names) == 0 || slices.ContainsFunc(names, (*ast.Ident).IsExported)) {
				texts[s.file] = append(texts[s.file], comment.Text())
			}
		}
		add(s.ast.Doc)
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				add(n.Doc, n.Name)
				return false
			case *ast.GenDecl:
				if spec, ok := n.Specs[0].(*ast.TypeSpec); ok {
					add(n.Doc, spec.Name)
					return spec.Name.IsExported()
				}
			case *ast.ValueSpec:
				add(n.Doc, n.Names...)
				add(n.Comment, n.Names...)
			case *ast.Field:
				if len(n.Names) > 0 {
					add(n.Doc, n.Names...)
				}
			}
			return true
		})
	}
	return texts
}

// publicTrees are the folders of the library.
func publicTrees() []string {
	return []string{"requirements", "offerings", "instancetypes", "scheduling"}
}

// documents are the Markdown files without their code, by name: those of the repository, and not those that the site's
// build generates. The changelog is without its table of old and new names.
func documents(t *testing.T) map[string]string {
	t.Helper()
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|(?m)^    [^\n]*$")
	renamed := regexp.MustCompile(`(?s)### Renamed\n.*?\n### `)
	texts := map[string]string{}
	walk(t, func(name string, entry fs.DirEntry) error {
		if entry.IsDir() {
			if name == "website/reference/go" || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if name == "CHANGELOG.md" {
			text = renamed.ReplaceAll(text, []byte("### "))
		}
		texts[name] = code.ReplaceAllString(string(text), " ")
		return nil
	})
	require.Greater(t, len(texts), 30)
	return texts
}
