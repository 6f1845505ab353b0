package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// object is one of JSON, whose fields encoding/json sorts.
type object = map[string]any

// generator makes JSON Schemas of Go types, with what their comments say.
type generator struct {
	t     *testing.T
	defs  object                  // of the present document
	title string                  // what its type is called that has no name
	types map[string]reflect.Type // by the names of their defs in all documents
	docs  map[string]*packageDocs // by import path
}

// written are types that write themselves.
func written() map[reflect.Type]object {
	return map[reflect.Type]object{
		reflect.TypeFor[offerings.Price]():   {"type": "number"},
		reflect.TypeFor[billing.Units]():     {"type": "number"},
		reflect.TypeFor[resource.Quantity](): {"type": "string"},
		reflect.TypeFor[metav1.Time]():       {"type": "string", "format": "date-time"},
	}
}

// schema is that of a type.
func (g *generator) schema(t reflect.Type) object {
	if s, ok := written()[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.schema(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.String:
		s := object{"type": "string"}
		if values := g.of(t).values[t.Name()]; len(values) > 0 {
			kind := "enum"
			if t == reflect.TypeFor[offerings.CapacityType]() {
				kind = "examples" // there may be others
			}
			s[kind] = values
		}
		return s
	case reflect.Struct:
		for _, method := range []string{"MarshalJSON", "MarshalText"} {
			_, own := reflect.PointerTo(t).MethodByName(method)
			require.False(g.t, own, "%v writes itself: say how", t)
		}
		name := cmp.Or(t.Name(), g.title)
		if other := g.types[name]; other != nil && other != t {
			of := filepath.Base(t.PkgPath())
			name = strings.ToUpper(of[:1]) + of[1:] + name
		}
		if g.types[name] = t; g.defs[name] == nil {
			s := object{"type": "object", "additionalProperties": false, "properties": object{}}
			g.defs[name] = s
			if text := g.of(t).types[t.Name()]; text != "" {
				s["description"] = text
			}
			var required []string
			g.fields(t, s["properties"].(object), &required)
			if len(required) > 0 {
				s["required"] = required
			}
		}
		return object{"$ref": "#/$defs/" + name}
	}
	require.Fail(g.t, "no schema", "%v", t)
	return nil
}

// fields adds those of a struct, and those that it embeds.
func (g *generator) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			g.fields(f.Type, properties, required)
			continue
		case tag == "-" || !f.IsExported():
			continue
		case tag == "":
			tag = f.Name
		}
		s := g.schema(f.Type)
		if text := g.describe(t, f.Name, tag); text != "" {
			s["description"] = text
		}
		properties[tag] = s
		if !strings.Contains(options, "omit") {
			*required = append(*required, tag)
		}
	}
}

// describe says what a field means: its comment, or what Kubernetes says of its own types.
func (g *generator) describe(t reflect.Type, field, tag string) string {
	f, _ := t.FieldByName(field)
	if text := cmp.Or(f.Tag.Get("doc"), g.of(t).fields[t.Name()+"."+field]); text != "" {
		return text
	}
	if s, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return s.SwaggerDoc()[tag]
	}
	of := f.Type
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	return g.of(of).types[of.Name()]
}

// document is the whole schema of an output.
func (g *generator) document(name, title string, t reflect.Type) object {
	g.defs, g.title = object{}, strings.ToUpper(name[:1])+name[1:]
	s := g.schema(t)
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", title
	s["$id"] = "https://raw.githubusercontent.com/plimsoll-go/plimsoll/main/docs/schema/" + name + ".json"
	if len(g.defs) > 0 {
		s["$defs"] = g.defs
	}
	return s
}

// packageDocs are what the comments of a package say.
type packageDocs struct {
	types  map[string]string
	fields map[string]string   // by Type.Field
	values map[string][]string // the constants of each type
}

// of is what the package of a type says; nothing of others' packages.
func (g *generator) of(t reflect.Type) *packageDocs {
	path := t.PkgPath()
	if path == "main" {
		path = modulePath + "/cmd/plimsoll"
	}
	if g.docs[path] == nil {
		g.docs[path] = &packageDocs{types: map[string]string{}, fields: map[string]string{}, values: map[string][]string{}}
		if dir, ours := strings.CutPrefix(path, modulePath+"/"); ours {
			g.docs[path].read(g.t, filepath.Join("..", "..", dir))
		}
	}
	return g.docs[path]
}

const modulePath = "github.com/plimsoll-go/plimsoll"

// read reads the comments of a package's files.
func (d *packageDocs) read(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if decl, ok := n.(*ast.GenDecl); ok {
				for _, spec := range decl.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						d.typed(s, decl.Doc)
					case *ast.ValueSpec:
						d.valued(s)
					}
				}
			}
			return true
		})
	}
	for _, values := range d.values {
		slices.Sort(values)
	}
}

// typed notes the comments of a type and of its fields. A comment that names several fields is
// that of each.
func (d *packageDocs) typed(s *ast.TypeSpec, doc *ast.CommentGroup) {
	name := s.Name.Name
	d.types[name] = plainText(doc.Text())
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		return
	}
	last := ""
	for _, f := range fields.Fields.List {
		text := plainText(f.Doc.Text() + f.Comment.Text())
		for _, field := range f.Names {
			if text == "" && regexp.MustCompile(`\b`+field.Name+`\b`).MatchString(last) {
				text = last
			}
			d.fields[name+"."+field.Name] = text
		}
		if text != "" {
			last = text
		}
	}
}

// valued notes the values of constants that say of which type they are.
func (d *packageDocs) valued(s *ast.ValueSpec) {
	of, ok := s.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, v := range s.Values {
		if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, _ := strconv.Unquote(literal.Value)
			d.values[of.Name] = append(d.values[of.Name], value)
		}
	}
}

var link = regexp.MustCompile(`\[\*?([A-Za-z][\w.]*)\]`)

// plainText is a comment without line breaks and links.
func plainText(text string) string {
	return link.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
}

// reference writes the types of schemas as tables for people.
func reference(names []string, schemas map[string]object) string {
	var b strings.Builder
	defs := object{}
	b.WriteString("# Fields of the JSON outputs\n\nGenerated from the Go types, as are the [schemas](schema). Prices are in USD per hour, resources in\nKubernetes' quantities; what may be missing is marked with ?.\n\n| output | schema | type |\n|---|---|---|\n")
	for _, name := range names {
		s := schemas[name]
		fmt.Fprintf(&b, "| `%s` | [%s.json](schema/%s.json) | %s |\n", s["title"], name, name, typeText(s))
		for k, v := range asObject(s["$defs"]) {
			defs[k] = v
		}
	}
	for _, name := range sortedKeys(defs) {
		def := defs[name].(object)
		fmt.Fprintf(&b, "\n## %s\n", name)
		if text, _ := def["description"].(string); text != "" {
			fmt.Fprintf(&b, "\n%s\n", escaped(text))
		}
		b.WriteString("\n| field | type | meaning |\n|---|---|---|\n")
		required, _ := def["required"].([]string)
		properties := asObject(def["properties"])
		for _, field := range sortedKeys(properties) {
			p := properties[field].(object)
			text, _ := p["description"].(string)
			if ref, ok := p["$ref"].(string); ok && text == asObject(defs[strings.TrimPrefix(ref, "#/$defs/")])["description"] {
				text = firstSentence(text) // the rest stands where the type links to
			}
			optional := "?"
			if slices.Contains(required, field) {
				optional = ""
			}
			fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", field, optional, typeText(p), escaped(text))
		}
	}
	return b.String()
}

// firstSentence is the text up to its first full stop at the end of a sentence.
func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if !more {
		return text
	}
	return first + "."
}

func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)
}

// typeText says of what type something is.
func typeText(s object) string {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	if items, ok := s["items"].(object); ok {
		return "list of " + typeText(items)
	}
	if values, ok := s["additionalProperties"].(object); ok {
		return "map of " + typeText(values)
	}
	if enum, ok := s["enum"].([]string); ok {
		return "`" + strings.Join(enum, "`, `") + "`"
	}
	if known, ok := s["examples"].([]string); ok {
		return "string, e.g. `" + strings.Join(known, "`, `") + "`"
	}
	return fmt.Sprint(s["type"])
}

func asObject(v any) object { o, _ := v.(object); return o }

func sortedKeys(o object) []string {
	var out []string
	for k := range o {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
