package redact

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Names replaces names word by word; punctuation separates the words of a name. A word is replaced
// by the same one everywhere, so that e.g. a pod's name still begins with its Deployment's. Words
// keep their order, also relative to names that stay, e.g. the namespace kube-system, because plans
// break ties by name. Numbers of up to three digits stay, because they number the pods and claims of
// a StatefulSet, except in addresses.
type Names struct {
	fields, annotations map[string]meaning
	words               map[string]string
	numbers             map[string]bool // numbers that stay
	word                func(string) string
}

// NewNames reads the words of objects, which have been through [Strip].
func NewNames(objects []Object) *Names {
	n := &Names{fields: fields(), annotations: annotations(), words: map[string]string{}, numbers: map[string]bool{}}
	n.word = func(w string) string {
		n.words[w] = ""
		return w
	}
	for _, o := range objects {
		n.object(o)
	}
	n.spell()
	n.word = func(w string) string { return n.words[w] }
	return n
}

// spell chooses the replacement of each word; words of names that stay replace themselves. A replacement
// sorts between the same two words that stay as the original or, where it begins with a digit, between the
// same two numbers that stay. Numbers of addresses sort before all words, because no replacement may equal one.
func (n *Names) spell() {
	numbers := slices.Sorted(maps.Keys(n.numbers))
	var counted, words []string
	for _, w := range slices.Sorted(maps.Keys(n.words)) {
		if w[0] <= '9' && !number.MatchString(w) && len(numbers) > 0 {
			counted = append(counted, w)
		} else {
			words = append(words, w)
		}
	}
	if len(counted) > 0 {
		n.among(counted, numbers, below(numbers[0]))
	}
	n.among(words, fixed(), "a")
}

// among maps words to replacements that sort between the same two words of stay; first is the prefix
// of replacements that sort before all of stay.
func (n *Names) among(words, stay []string, first string) {
	between := make([][]string, len(stay)+1) // words before each word of stay, and after the last
	for _, w := range words {
		at, found := slices.BinarySearch(stay, w)
		if n.words[w] = w; !found {
			between[at] = append(between[at], w)
		}
	}
	n.call(between[0], first)
	for i, after := range stay {
		before := ""
		if i+1 < len(stay) {
			before = stay[i+1]
		}
		if len(between[i+1]) > 0 {
			n.call(between[i+1], beginning(after, before))
		}
	}
}

// call maps words to replacements with a common prefix, in the order of the words.
func (n *Names) call(words []string, begin string) {
	width := 1
	for most := letters; most < len(words); most *= letters {
		width++
	}
	for i, w := range words {
		n.words[w] = begin + spelt(i, width)
	}
}

// fixed are the words of the names that Kubernetes gives, in their order.
func fixed() []string {
	var out []string
	for _, name := range publicNames() {
		out = append(out, parts.FindAllString(name, -1)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// below returns a prefix of words that sort before a number.
func below(number string) string {
	for k := range len(number) {
		if number[k] > '0' {
			return number[:k] + string(number[k]-1)
		}
	}
	return "" // there is none before noughts
}

// beginning returns a prefix of words that sort after one word and before another; "" is no bound.
func beginning(after, before string) string {
	if rest, found := strings.CutPrefix(before, after); found && before != "" {
		return after + below(rest)
	}
	k := 0
	for k < len(before) && k < len(after) && after[k] == before[k] {
		k++
	}
	for ; k < len(after); k++ {
		next := after[:k] + string(after[k]+1)
		if after[k] != '9' && after[k] != 'z' && (before == "" || next < before && !strings.HasPrefix(before, next)) {
			return next
		}
	}
	return after + "a"
}

// letters is the size of the alphabet of replacements: no digits, because a name must begin and end with letters.
const letters = 26

func spelt(i, width int) string {
	out := make([]byte, width)
	for k := width - 1; k >= 0; k-- {
		out[k] = byte('a' + i%letters)
		i /= letters
	}
	return string(out)
}

// Replace returns a copy of one of the objects with other names.
func (n *Names) Replace(o Object) Object { return n.object(o) }

// object is an object, or a part of one, with other names.
func (n *Names) object(o Object) Object {
	out := make(Object, len(o))
	key, _ := o["key"].(string)
	for name, value := range o {
		what := n.fields[name]
		inner, nested := value.(Object)
		switch text, _ := value.(string); {
		case name == "uid":
			out[name] = "redacted" // that there is one is all that counts
		case name == "annotations" && nested:
			out[name] = n.notes(inner)
		case name == "ownerReferences":
			out[name] = n.owners(value)
		case name == "drivers":
			out[name] = n.drivers(value)
		case nested && what == amounts:
			out[name] = inner
		case nested && what == labels && !isSelector(inner):
			out[name] = n.labels(inner)
		case name == "disruptedPods" && nested:
			out[name] = Object{}
		case (name == "value" || name == "values") && key != "":
			out[name] = each(value, func(text string) string { return n.labelValue(key, text) })
		case name == "providerID":
			out[name] = n.provider(text)
		case name == "name" && isOSName(o):
			out[name] = text
		default:
			out[name] = n.part(value, what)
		}
	}
	return out
}

// isOSName reports whether an object is only the name of an operating system.
func isOSName(o Object) bool {
	name, _ := o["name"].(string)
	return len(o) == 1 && (name == "linux" || name == "windows")
}

// part returns the value of a field with its names replaced.
func (n *Names) part(value any, what meaning) any {
	switch v := value.(type) {
	case Object:
		return n.object(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = n.part(item, what)
		}
		return out
	case string:
		switch what {
		case named:
			return n.name(v)
		case key:
			return n.labelKey(v)
		}
	}
	return value
}

// each is a text or a list of texts, changed.
func each(value any, change func(string) string) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = each(item, change)
		}
		return out
	}
	return value
}

// public reports whether Kubernetes gives a name.
func public(name string) bool { return name == "" || slices.Contains(publicNames(), name) }

// publicNames are names that Kubernetes gives.
func publicNames() []string {
	return []string{
		"default", "kube-system", "kube-public", "kube-node-lease", "system-cluster-critical", "system-node-critical", "default-scheduler",
	}
}

var (
	parts  = regexp.MustCompile(`[A-Za-z0-9]+`)
	number = regexp.MustCompile(`^[0-9]{1,3}$`)
)

// name is another name.
func (n *Names) name(text string) string {
	if public(text) {
		return text
	}
	at := parts.FindAllStringIndex(text, -1)
	var b strings.Builder
	end := 0
	for i, p := range at {
		b.WriteString(text[end:p[0]])
		word := text[p[0]:p[1]]
		end = p[1]
		if number.MatchString(word) && !ofAddress(text, at, i) {
			n.numbers[word] = true
		} else {
			word = n.word(word)
		}
		b.WriteString(word)
	}
	b.WriteString(text[end:])
	return b.String()
}

// ofAddress reports whether a part of a text is one of four numbers in a row.
func ofAddress(text string, at [][]int, part int) bool {
	first, last := part, part
	for first > 0 && number.MatchString(text[at[first-1][0]:at[first-1][1]]) {
		first--
	}
	for last+1 < len(at) && number.MatchString(text[at[last+1][0]:at[last+1][1]]) {
		last++
	}
	return last-first >= 3
}

// provider is the provider's name of a machine: its cloud and zone stay.
func (n *Names) provider(id string) string {
	cloud, path, found := strings.Cut(id, "://")
	if !found {
		return n.name(id)
	}
	list := strings.Split(path, "/")
	for i, p := range list {
		if !place.MatchString(p) {
			list[i] = n.name(p)
		}
	}
	return cloud + "://" + strings.Join(list, "/")
}

// place matches the names of zones and regions, e.g. us-east-1a.
var place = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)*-?[0-9](-?[a-z])?$`)

// labelKey is another key of a label, unless Kubernetes or a provider gives it a meaning.
func (n *Names) labelKey(key string) string {
	if ours(key) {
		return key
	}
	return n.name(key)
}

// ours reports whether a key is of Kubernetes, of Karpenter or of a provider.
func ours(key string) bool {
	if requirements.WellKnown().Has(requirements.NormalizeKey(key)) {
		return true // an alias, e.g. topology.ebs.csi.aws.com/zone
	}
	domain, _, found := strings.Cut(key, "/")
	if !found {
		return slices.Contains([]string{"pod-template-hash", "controller-revision-hash", "agentpool", "node-lifecycle", "metadata.name", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}, key)
	}
	return slices.ContainsFunc([]string{
		"kubernetes.io", "k8s.io", "k8s.aws", "k8s.gcp", "karpenter.sh", "karpenter.kwok.sh", "kubernetes.azure.com", "karpenter.azure.com",
		"csi.azure.com", "cloud.google.com", "gke.io", "amazonaws.com", "eksctl.io", "volcano.sh", "aws-node-termination-handler", "aks.microsoft.com",
	}, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}

// labelValue replaces the value of a label, unless it describes a machine.
func (n *Names) labelValue(key, value string) string {
	switch key = requirements.NormalizeKey(key); {
	case requirements.WellKnown().Has(key) && key != requirements.NodePoolKey && key != requirements.ReservationIDKey:
		return value
	case slices.Contains([]string{"true", "false", "spot", "SPOT", "on-demand", "ON_DEMAND", "normal", "linux", "windows"}, value):
		return value
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value // it may be compared
	}
	return n.name(value)
}

// labels are labels with other keys and values.
func (n *Names) labels(list Object) Object {
	out := Object{}
	for key, value := range list {
		out[n.labelKey(key)] = each(value, func(text string) string { return n.labelValue(key, text) })
	}
	return out
}

// notes are annotations with other names.
func (n *Names) notes(list Object) Object {
	out := Object{}
	for key, value := range list {
		if n.annotations[key] == named {
			value = each(value, n.name)
		}
		out[key] = value
	}
	return out
}

// owners are references to owners: kinds that Kubernetes does not have are names, too.
func (n *Names) owners(value any) any {
	return n.objects(value, func(ref, changed Object) {
		if version, _ := ref["apiVersion"].(string); strings.Contains(version, ".") && !ours(version) {
			kind, _ := ref["kind"].(string)
			changed["apiVersion"], changed["kind"] = n.name(version), n.name(kind)
		}
	})
}

// drivers are the drivers of a CSINode, which keep their names.
func (n *Names) drivers(value any) any {
	return n.objects(value, func(driver, changed Object) {
		if name, ok := driver["name"]; ok {
			changed["name"] = name
		}
	})
}

// objects returns a list of objects with their names replaced; finish makes the changes of its kind to each.
func (n *Names) objects(value any, finish func(was, changed Object)) any {
	list, _ := value.([]any)
	out := make([]any, len(list))
	for i, item := range list {
		was, _ := item.(Object)
		changed := n.object(was)
		finish(was, changed)
		out[i] = changed
	}
	return out
}
