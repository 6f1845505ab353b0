package manifest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// mergeKey is the key by which a mapping takes over the members of others.
var mergeKey = regexp.MustCompile(`(^|[\s{,])<<\s*:`)

// yamlToJSON converts one document of YAML 1.1 to JSON. A key that stands twice in a
// mapping is an error; one that a mapping sets besides what it merges is not, and wins.
func yamlToJSON(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte("<<")) || !mergeKey.Match(text) {
		return yaml.YAMLToJSONStrict(text)
	}
	// The strict parser takes what is merged and set again for a key that stands twice.
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	resolveAsYAML11(&document)
	var tree any
	if err := document.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// resolveAsYAML11 has the plain scalars of a tree read as the strict parser reads them:
// yes and no are true and false, times are text, and so are all keys.
func resolveAsYAML11(n *yamlv3.Node) {
	const text, boolean, merge = "!!str", "!!bool", "!!merge"
	for i, child := range n.Content {
		key := n.Kind == yamlv3.MappingNode && i%2 == 0 && child.Kind == yamlv3.ScalarNode
		switch {
		case !key:
			resolveAsYAML11(child)
		case child.Tag != merge:
			child.Tag = text
		}
	}
	if n.Kind != yamlv3.ScalarNode || n.Style != 0 {
		return
	}
	switch word := strings.ToLower(n.Value); {
	case n.Tag == "!!timestamp":
		n.Tag = text
	case n.Tag == text && slices.Contains([]string{"y", "yes", "on"}, word):
		n.Tag, n.Value = boolean, "true"
	case n.Tag == text && slices.Contains([]string{"n", "no", "off"}, word):
		n.Tag, n.Value = boolean, "false"
	}
}

// maxAnchors is how much text of a list is kept for the anchors in it.
const maxAnchors = 256 << 10

// itemToJSON converts the item at hand. It may refer to anchors above it in the document.
func (d *yamlDocument) itemToJSON() ([]byte, error) {
	alone := d.item.Bytes()
	raw, err := yamlToJSON(alone)
	lacking := err != nil && strings.Contains(err.Error(), "unknown anchor")
	if !lacking && !bytes.ContainsRune(alone, '&') {
		return raw, err
	}
	item := slices.Clone(alone)
	item[d.itemIndent] = '-' // as it was
	if lacking {
		whole := slices.Concat(d.text.Bytes(), []byte("items:\n"), d.anchors, item)
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		if all, again := yamlToJSON(whole); again == nil && json.Unmarshal(all, &list) == nil && len(list.Items) > 0 {
			raw, err = list.Items[len(list.Items)-1], nil
		}
	}
	if len(d.anchors)+len(item) <= maxAnchors {
		d.anchors = append(d.anchors, item...)
	}
	return raw, err
}
