package layering

import (
	"go/ast"
	"go/token"
	"io/fs"
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
// of Kubernetes and Karpenter for it. They must not come back into texts of the command, or into the README.
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
		`\bmade with\b`:                                               "assumptions",
		`\bwhat lifts it\b`:                                           "how to fix",
		`\b(calm|inflexible)\b`:                                       "low-interruption, not diversified",
	}
}

// TestTextsUseTheWordsOfReaders reads the texts of the command and the README.
func TestTextsUseTheWordsOfReaders(t *testing.T) {
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
	require.Greater(t, len(texts), 50)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	texts["README.md"] = strings.Split(string(readme), "\n\n")
	words, whats := 0, 0
	for file, list := range texts {
		for _, text := range list {
			lower := strings.ToLower(text)
			for phrase, better := range privatePhrases() {
				assert.NotRegexp(t, phrase, lower, "%s: say %s", file, better)
			}
			all := wordPattern().FindAllString(lower, -1)
			words += len(all)
			whats += len(slices.DeleteFunc(all, func(word string) bool { return word != "what" }))
		}
	}
	assert.LessOrEqual(t, 1000*whats, mostWhats*words, `"what" in 1,000 words of the texts of the command: name the thing`)
}

// TestDocumentsNameTheirNouns holds how often a document says "what", outside of code.
func TestDocumentsNameTheirNouns(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```")
	found := map[string]int{}
	walk(t, func(name string, entry fs.DirEntry) error {
		if entry.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		words := wordPattern().FindAllString(code.ReplaceAllString(strings.ToLower(string(text)), " "), -1)
		whats := 0
		for _, word := range words {
			if word == "what" {
				whats++
			}
		}
		if len(words) < fewestWords {
			return nil
		}
		rate, most := (1000*whats+len(words)-1)/len(words), whatsInDocuments()[name]
		if rate < most && rate >= most-whatsSlack {
			rate = most
		}
		if rate > mostWhats {
			found[name] = rate
		}
		return nil
	})
	holds(t, found, whatsInDocuments(), `"what" in 1,000 words of a document: name the thing`)
}

// whatsInDocuments are the ceilings of documents beyond [mostWhats]; they only fall.
func whatsInDocuments() map[string]int {
	return map[string]int{
		"website/start/eks-auto-mode.md":   5,
		"website/start/index.md":           7,
	}
}
