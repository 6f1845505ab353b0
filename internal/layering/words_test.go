package layering

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

// privateWords are words that once stood in names and that only this repository used, each with the word that
// Kubernetes, Karpenter or operations research has for it. They must not come back into declared names.
func privateWords() map[string]string {
	return map[string]string{
		"afresh":     "from scratch",
		"assortment": "offer cache",
		"atlas":      "location cache",
		"atom":       "open value",
		"bench":      "node compatibility",
		"blend":      "relaxation",
		"bonds":      "terms",
		"bough":      "branch",
		"bush":       "branch",
		"census":     "counts",
		"clearing":   "relaxation",
		"compiler":   "instance",
		"concede":    "replan",
		"country":    "nodes, node locations",
		"crew":       "workers",
		"crowd":      "per-node limit",
		"deciding":   "scope",
		"despair":    "infeasible",
		"duty":       "term",
		"fellowship": "colocation group",
		"flock":      "spread group",
		"forth":      "relocate",
		"guestbook":  "selector index",
		"guests":     "selected pods",
		"headcount":  "counts",
		"herd":       "spread group",
		"hone":       "large neighbourhood search",
		"homeless":   "unplaced",
		"kin":        "topology signature",
		"lodge":      "place",
		"lodging":    "assignment",
		"loners":     "exclusive pods",
		"mates":      "compatible items",
		"mould":      "spec reader",
		"muster":     "read daemon pods",
		"outlook":    "early bound",
		"parted":     "branched",
		"peel":       "split",
		"racks":      "candidate list",
		"ration":     "limit penalty",
		"refleet":    "set cover",
		"rehearse":   "simulate",
		"relisted":   "usable offers",
		"remix":      "column generation",
		"rescue":     "join",
		"resign":     "replan",
		"roster":     "name assigner",
		"seat":       "feasible set",
		"seats":      "feasible sets",
		"shun":       "avoid",
		"sift":       "select",
		"slab":       "step",
		"slacken":    "redundant",
		"spokesman":  "representative",
		"spokesmen":  "representative pods",
		"stake":      "scope, price spread",
		"strata":     "offer groups",
		"surrender":  "close domains",
		"tangle":     "spread group",
		"tie":        "term",
		"tied":       "with topology terms",
		"toll":       "dual",
		"twig":       "branch",
		"vessel":     "knapsack",
		"wish":       "preference",
		"wishes":     "preferences",
		"yardstick":  "dual feasible function",
	}
}

// TestNamesUseWordsOfTheField finds private words in the names of packages, files, types, functions, constants, variables
// and fields. Local variables are free, and so are ties between equal scores.
func TestNamesUseWordsOfTheField(t *testing.T) {
	words := privateWords()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		names := map[string]bool{strings.TrimSuffix(path.Base(s.file), ".go"): true, path.Base(s.pkg): true}
		maps.Copy(names, declared(s.ast))
		for _, name := range slices.Sorted(maps.Keys(names)) {
			for _, word := range camelWords(name) {
				better := privateWord(words, word)
				assert.Empty(t, better, "%s: %s: %q is a private word; say %q", s.file, name, word, better)
			}
		}
	}
}

// privateWord returns the word of the field for a private word or one of its inflected forms, e.g. shunned; "" for others.
func privateWord(private map[string]string, word string) string {
	forms := []string{word}
	for _, ending := range []string{"s", "es", "d", "ed", "ing", "ful"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && len(stem) > 2 && (ending != "d" || stem[len(stem)-1] == 'e') {
			forms = append(forms, stem)
			if n := len(stem); stem[n-1] == stem[n-2] {
				forms = append(forms, stem[:n-1])
			}
		}
	}
	for _, form := range forms {
		if better := private[form]; better != "" {
			return better
		}
	}
	return ""
}

func TestPrivateWord(t *testing.T) {
	private := map[string]string{"shun": "avoid", "seat": "feasible set", "tie": "term", "kin": "signature"}
	for word, want := range map[string]string{"shun": "avoid", "shunned": "avoid", "seats": "feasible set", "tied": "term", "kind": "", "kinds": "", "kin": "signature", "seating": "feasible set"} {
		assert.Equal(t, want, privateWord(private, word), word)
	}
}

// TestCommentsUseWordsOfTheField finds private words in comments, which often name what has another name by now.
func TestCommentsUseWordsOfTheField(t *testing.T) {
	words := privateWords()
	for _, word := range []string{"bench", "compiler", "racks", "tie", "tied"} {
		delete(words, word) // words of everybody: a benchmark, the compiler of Go, racks as domains, ties between equal scores
	}
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) {
			continue
		}
		for _, group := range s.ast.Comments {
			for _, word := range wordPattern().FindAllString(strings.ToLower(group.Text()), -1) {
				better := privateWord(words, word)
				assert.Empty(t, better, "%s: %q is a private word; say %q", s.set.Position(group.Pos()), word, better)
			}
		}
	}
}

// declared returns the names that a file declares outside of functions, with the fields of structs and the methods of
// interfaces.
func declared(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name] = true
		case *ast.GenDecl:
			ast.Inspect(d, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.FuncLit, *ast.FuncType:
					return false
				case *ast.TypeSpec:
					names[x.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range x.Names {
						names[name.Name] = true
					}
				case *ast.Field:
					for _, name := range x.Names {
						names[name.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
}

// camelWords returns the words of a name in lower case, e.g. per, node and limit for perNodeLimit or per_node_limit.
func camelWords(name string) (words []string) {
	from := 0
	cut := func(to int) {
		if to > from {
			words = append(words, strings.ToLower(name[from:to]))
		}
		from = to
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r):
			cut(i)
			from = i + len(string(r))
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rune(name[i-1])) || i+1 < len(name) && unicode.IsLower(rune(name[i+1]))):
			cut(i)
		}
	}
	cut(len(name))
	return words
}

func TestCamelWords(t *testing.T) {
	for name, want := range map[string][]string{
		"perNodeLimit": {"per", "node", "limit"}, "per_node_limit": {"per", "node", "limit"}, "SpotTypes": {"spot", "types"},
		"LPDual": {"lp", "dual"}, "tie": {"tie"}, "": nil, "v1": {"v"},
	} {
		assert.Equal(t, want, camelWords(name), name)
	}
}

// sharedNames are the names that several public packages may declare, because they mean the same in each.
func sharedNames() map[string]string {
	return map[string]string{
		"Catalog":       "the catalog of a cloud, and its type",
		"Cluster":       "a cluster as package disruption reads it, and one for tests",
		"DoesNotExist":  "operator, and a builder of a requirement with it",
		"Exists":        "operator, and a builder of a requirement with it",
		"Gt":            "operator, and a builder of a requirement with it",
		"Gte":           "operator, and a builder of a requirement with it",
		"In":            "operator, and a builder of a requirement with it",
		"KubeReserved":  "the part of the capacity that the kubelet keeps, and a builder with it",
		"Lt":            "operator, and a builder of a requirement with it",
		"Lte":           "operator, and a builder of a requirement with it",
		"MustCatalog":   "the catalog of a cloud, or one for tests",
		"NodeClass":     "the node class of a cloud",
		"NodeClassSpec": "the specification of the node class of a cloud",
		"NodePool":      "a NodePool, and a builder of one",
		"NotIn":         "operator, and a builder of a requirement with it",
		"OnDemand":      "capacity type, and a builder of an offering with it",
		"Plan":          "a plan of launches, and the check of one",
		"Bill":          "the bill of nodes, and the check of one",
		"Planner":       "the planner of a package, with its Policy",
		"Regions":       "the regions of a cloud",
		"Reserved":      "capacity type, and a builder of an offering with it",
		"Spot":          "capacity type, and a builder of an offering with it",
	}
}

// TestPublicNamesHaveOneMeaning finds names that two public packages declare, because callers have both packages in one
// file, e.g. scheduling.Plan and disruption.ConsolidationPlan.
func TestPublicNamesHaveOneMeaning(t *testing.T) {
	packages, shared := map[string][]string{}, sharedNames()
	for _, s := range sources(t) {
		if s.test || s.ast.Name.Name == "main" || strings.Contains("/"+s.pkg+"/", "/internal/") || within(s.pkg, "benchmarks") || within(s.pkg, "examples") {
			continue
		}
		for _, decl := range s.ast.Decls {
			for _, name := range topLevel(decl) {
				if ast.IsExported(name) && !slices.Contains(packages[name], s.pkg) {
					packages[name] = append(packages[name], s.pkg)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if shared[name] == "" {
			assert.Len(t, packages[name], 1, "%s stands in several public packages: give it one meaning", name)
		}
	}
	for name := range shared {
		assert.Greater(t, len(packages[name]), 1, "%s stands in one package only; remove it from sharedNames", name)
	}
}

// topLevel returns the names that a declaration adds to its package; methods are not among them.
func topLevel(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch x := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, x.Name.Name)
			case *ast.ValueSpec:
				for _, name := range x.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
