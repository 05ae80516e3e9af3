// Generate writes the code of bench.proto for each codec into gen/. Plugins are tools of this module, and the compiler is
// a package of it, so that nothing has to be installed.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const module = "github.com/eddy-gateway/eddy/bench/protobuf"

// codec is a package of gen/, and the plugins that write it.
type codec struct {
	name    string
	plugins []plugin
}

type plugin struct {
	tool      string
	parameter string
}

func codecs() []codec {
	pool := ""
	for _, message := range []string{"Published", "Catalog", "Item", "Size", "Instant"} {
		pool += ",pool=" + module + "/gen/vt." + message
	}
	return []codec{
		{"open", []plugin{{"protoc-gen-go", "default_api_level=API_OPEN"}}},
		{"opaque", []plugin{{"protoc-gen-go", "default_api_level=API_OPAQUE"}}},
		{"vt", []plugin{
			{"protoc-gen-go", "default_api_level=API_OPEN"},
			{"protoc-gen-go-vtproto", "features=marshal+unmarshal+unmarshal_unsafe+size+pool" + pool},
		}},
		{"gogo", []plugin{{"protoc-gen-gogofaster", ""}}},
	}
}

func main() {
	for _, codec := range codecs() {
		if err := generate(codec); err != nil {
			fmt.Fprintf(os.Stderr, "generate %s: %v\n", codec.name, err)
			os.Exit(1)
		}
	}
}

func generate(c codec) error {
	file, err := compile(c.name)
	if err != nil {
		return err
	}
	folder := filepath.Join("gen", c.name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, plugin := range c.plugins {
		parameter := fmt.Sprintf("paths=source_relative,M%s=%s/gen/%s", file.GetName(), module, c.name)
		if plugin.parameter != "" {
			parameter += "," + plugin.parameter
		}
		answer, err := run(plugin.tool, &pluginpb.CodeGeneratorRequest{
			FileToGenerate: []string{file.GetName()},
			Parameter:      &parameter,
			ProtoFile:      []*descriptorpb.FileDescriptorProto{file},
		})
		if err != nil {
			return err
		}
		for _, written := range answer.GetFile() {
			path := filepath.Join(folder, filepath.Base(written.GetName()))
			if err := os.WriteFile(path, []byte(written.GetContent()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile reads bench.proto under a name and package of the codec's own: one process can't have two files of one name.
func compile(name string) (*descriptorpb.FileDescriptorProto, error) {
	source, err := os.ReadFile("bench.proto")
	if err != nil {
		return nil, err
	}
	path := name + ".proto"
	text := strings.Replace(string(source), "package bench;", "package bench."+name+";", 1)
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{path: text}),
	}}
	files, err := compiler.Compile(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return protodesc.ToFileDescriptorProto(files[0]), nil
}

func run(tool string, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", "tool", tool)
	command.Stdin = bytes.NewReader(input)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	var answer pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("%s: %s", tool, answer.GetError())
	}
	return &answer, nil
}
