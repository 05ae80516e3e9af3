package eddy

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"
)

// decode decodes a configuration from JSON texts; later ones override earlier ones.
func decode[C any](isWhole bool, texts ...[]byte) (c C, err error) {
	if d, ok := any(&c).(Defaulter); ok && isWhole {
		d.SetDefaults()
	}
	given := map[string]bool{}
	for _, text := range texts {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := checkKeys(text, reflect.TypeFor[C](), "", given); err != nil {
			return c, err
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return c, explain(err)
		}
	}
	if isWhole {
		if missing := missingKeys(reflect.TypeFor[C](), "", given); len(missing) != 0 {
			return c, fmt.Errorf(`key "%s": missing`, strings.Join(missing, `", "`))
		}
	}
	return c, nil
}

// explain adds the key to an error of encoding/json.
func explain(err error) error {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		where := mistyped.Field
		if where == "" {
			return fmt.Errorf("the configuration can't be a %s, %s is wanted", mistyped.Value, kindName(mistyped.Type))
		}
		return fmt.Errorf("key %q: can't be a %s, %s is wanted", where, mistyped.Value, kindName(mistyped.Type))
	}
	return err
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number that fits " + t.Kind().String()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 that fits " + t.Kind().String()
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a table of keys"
	default:
		return t.String()
	}
}

// checkKeys finds keys that a type does not have, and records the paths of the others.
func checkKeys(text []byte, t reflect.Type, path string, given map[string]bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if decodesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil {
			// encoding/json reports it better.
			return nil
		}
		known := fieldsOf(t)
		for _, key := range sortedKeys(object) {
			field, ok := findField(known, key)
			if !ok {
				return fmt.Errorf("key %q: unknown; known here: %s", join(path, key), strings.Join(sortedKeys(known), ", "))
			}
			given[join(path, field.name)] = true
			if err := checkKeys(object[key], field.Type, join(path, key), given); err != nil {
				return err
			}
		}
	case reflect.Map:
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil {
			return nil
		}
		for _, key := range sortedKeys(object) {
			if err := checkKeys(object[key], t.Elem(), join(path, key), given); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return nil
		}
		for i, item := range list {
			if err := checkKeys(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i), given); err != nil {
				return err
			}
		}
	}
	return nil
}

// missingKeys returns the missing required keys of a type, including those of given nested structures.
func missingKeys(t reflect.Type, path string, given map[string]bool) (missing []string) {
	if t.Kind() != reflect.Struct || decodesItself(t) {
		return nil
	}
	for _, name := range sortedKeys(fieldsOf(t)) {
		field := fieldsOf(t)[name]
		if at := join(path, name); field.Tag.Get("eddy") == "required" && !given[at] {
			missing = append(missing, at)
		} else if given[at] {
			missing = append(missing, missingKeys(field.Type, at, given)...)
		}
	}
	return missing
}

type configField struct {
	reflect.StructField
	name string
}

// fieldsOf returns the fields of a structure by their keys, including those of embedded structures.
func fieldsOf(t reflect.Type) map[string]configField {
	fields := map[string]configField{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && f.Tag.Get("json") == "-" {
			continue
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Anonymous && name == "" && inner.Kind() == reflect.Struct {
			for key, field := range fieldsOf(inner) {
				if _, taken := fields[key]; !taken {
					fields[key] = field
				}
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = configField{f, name}
	}
	return fields
}

// findField finds a key like encoding/json: exactly, otherwise ignoring case.
func findField(known map[string]configField, key string) (configField, bool) {
	if f, ok := known[key]; ok {
		return f, true
	}
	for name, f := range known {
		if strings.EqualFold(name, key) {
			return f, true
		}
	}
	return configField{}, false
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// Duration is a time.Duration written as in eddy's configuration: "250ms", "5s", "1h30m".
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText formats the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
