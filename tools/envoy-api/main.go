// Command envoy-api writes the messages and enumerations of Envoy's API that eddy reads, as plain text, from the
// protobuf descriptors in the generated code of go-control-plane and of the modules it imports.
//
//	go mod download github.com/envoyproxy/go-control-plane/envoy@v1.40.0 ...
//	go run . DIR... > ../../crates/eddy-dialects/src/envoy/api/api.txt
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// roots are the messages from which all that is written can be reached, those in an Any among them.
var roots = []string{
	"envoy.config.bootstrap.v3.Bootstrap",
	"envoy.config.route.v3.RouteConfiguration",
	"envoy.config.route.v3.Route",
	"envoy.config.route.v3.RouteList",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
	"envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter",
	"envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute",
	"envoy.extensions.filters.http.grpc_web.v3.GrpcWeb",
	"envoy.extensions.filters.http.router.v3.Router",
	"envoy.extensions.access_loggers.file.v3.FileAccessLog",
	"envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
	"envoy.extensions.access_loggers.stream.v3.StderrAccessLog",
	"envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig",
	"envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig",
	"envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer",
	"envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
	"envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
	"envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
	"envoy.type.matcher.v3.HttpRequestHeaderMatchInput",
	"xds.type.matcher.v3.Matcher",
}

type field struct {
	number                  uint64
	name, kind, target      string
	label, oneof            int
	isMapEntry, isProto3Opt bool
}

type message struct {
	fields []field
	oneofs []string
	isMap  bool
}

var messages = map[string]*message{}
var enums = map[string][]string{}

func main() {
	for _, dir := range os.Args[1:] {
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".pb.go") {
				return err
			}
			return readFile(path)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	write()
}

func readFile(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if ok && len(value.Values) == 1 && strings.HasSuffix(value.Names[0].Name, "_rawDesc") {
				if text, ok := constant(value.Values[0]); ok {
					readDescriptor([]byte(text))
				}
			}
		}
	}
	return nil
}

func constant(expression ast.Expr) (string, bool) {
	switch expression := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expression.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, leftOK := constant(expression.X)
		right, rightOK := constant(expression.Y)
		return left + right, leftOK && rightOK
	}
	return "", false
}

// each calls visit for each field on the wire.
func each(bytes []byte, visit func(number, value uint64, bytes []byte)) {
	for len(bytes) > 0 {
		tag, n := binary.Uvarint(bytes)
		bytes = bytes[n:]
		switch tag & 7 {
		case 0:
			value, n := binary.Uvarint(bytes)
			bytes = bytes[n:]
			visit(tag>>3, value, nil)
		case 1:
			bytes = bytes[8:]
		case 2:
			length, n := binary.Uvarint(bytes)
			visit(tag>>3, 0, bytes[n:n+int(length)])
			bytes = bytes[n+int(length):]
		case 5:
			bytes = bytes[4:]
		}
	}
}

func readDescriptor(bytes []byte) {
	pkg := ""
	each(bytes, func(number, _ uint64, bytes []byte) {
		if number == 2 {
			pkg = string(bytes)
		}
	})
	each(bytes, func(number, _ uint64, bytes []byte) {
		switch number {
		case 4:
			readMessage(pkg, bytes)
		case 5:
			readEnum(pkg, bytes)
		}
	})
}

func readMessage(scope string, bytes []byte) {
	name := ""
	result := &message{}
	each(bytes, func(number, _ uint64, bytes []byte) {
		if number == 1 {
			name = scope + "." + string(bytes)
		}
	})
	each(bytes, func(number, _ uint64, bytes []byte) {
		switch number {
		case 2:
			result.fields = append(result.fields, readField(bytes))
		case 3:
			readMessage(name, bytes)
		case 4:
			readEnum(name, bytes)
		case 7:
			each(bytes, func(number, value uint64, _ []byte) { result.isMap = result.isMap || number == 7 && value == 1 })
		case 8:
			each(bytes, func(number, _ uint64, bytes []byte) {
				if number == 1 {
					result.oneofs = append(result.oneofs, string(bytes))
				}
			})
		}
	})
	messages[name] = result
}

var kinds = map[uint64]string{1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32",
	8: "bool", 9: "string", 12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64", 17: "sint32", 18: "sint64"}

func readField(bytes []byte) field {
	result := field{oneof: -1}
	each(bytes, func(number, value uint64, bytes []byte) {
		switch number {
		case 1:
			result.name = string(bytes)
		case 4:
			result.label = int(value)
		case 5:
			result.kind = kinds[value]
		case 6:
			result.target = strings.TrimPrefix(string(bytes), ".")
		case 9:
			result.oneof = int(value)
		case 17:
			result.isProto3Opt = value == 1
		}
	})
	return result
}

func readEnum(scope string, bytes []byte) {
	name := ""
	var values []string
	each(bytes, func(number, _ uint64, bytes []byte) {
		switch number {
		case 1:
			name = scope + "." + string(bytes)
		case 2:
			each(bytes, func(number, _ uint64, bytes []byte) {
				if number == 1 {
					values = append(values, string(bytes))
				}
			})
		}
	})
	enums[name] = values
}

func write() {
	reached := map[string]bool{}
	pending := append([]string{}, roots...)
	for len(pending) > 0 {
		name := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if reached[name] {
			continue
		}
		reached[name] = true
		if known := messages[name]; known != nil {
			for _, field := range known.fields {
				if field.target != "" {
					pending = append(pending, field.target)
				}
			}
		} else if enums[name] == nil {
			fmt.Fprintln(os.Stderr, "there is no", name)
		}
	}
	var names []string
	for name := range reached {
		names = append(names, name)
	}
	sort.Strings(names)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, name := range names {
		if values := enums[name]; values != nil {
			fmt.Fprintf(out, "enum %s\n %s\n", name, strings.Join(values, "\n "))
			continue
		}
		known := messages[name]
		if known == nil || known.isMap {
			continue
		}
		fmt.Fprintf(out, "message %s\n", name)
		for _, field := range known.fields {
			fmt.Fprintf(out, " %s %s", field.name, typeOf(field))
			if field.oneof >= 0 && !field.isProto3Opt {
				fmt.Fprintf(out, " %s", known.oneofs[field.oneof])
			}
			fmt.Fprintln(out)
		}
	}
}

func typeOf(field field) string {
	kind := field.kind
	if field.target != "" {
		kind = field.target
		if entry := messages[kind]; entry != nil && entry.isMap {
			return "map:" + typeOf(entry.fields[1])
		}
	}
	if field.label == 3 {
		return "list:" + kind
	}
	return kind
}
