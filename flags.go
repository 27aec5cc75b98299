package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
	"chkscope/storage"
)

// globalFlags are the flags that every command takes. Each has an environment
// variable (CHKSCOPE_ and the name in capitals, "_" for "-"), which counts where
// the flag is not given.
type globalFlags struct {
	json      bool
	frameSize int64
	maps      []string
	sourceURI string
	uids      []string
	uidFile   string
	jobGraph  string
	color     string
	ascii     bool
	readOnly  bool
	log       string
	s3        storage.S3Options
}

func (g *globalFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&g.json, "json", false, "one JSON document on stdout and nothing else")
	g.frameSize = model.DefaultFrameSize
	f.Var((*frameSize)(&g.frameSize), "framesize", "RPC frame size of the cluster (pekko.framesize, akka.framesize), in bytes")
	f.StringArrayVar(&g.maps, "map", nil, "FROM=TO: what _metadata names below FROM is found below TO (repeatable)")
	f.StringVar(&g.sourceURI, "source-uri", "", "how Flink sees the directory of the source")
	f.StringArrayVar(&g.uids, "uid", nil, "the uid of an operator (repeatable)")
	f.StringVar(&g.uidFile, "uids", "", "a file with one uid a line")
	f.StringVar(&g.jobGraph, "job-graph", "", "the job graph as JSON, from the REST API (/jobs/ID/plan or /jobs/ID)")
	f.StringVar(&g.color, "color", "auto", "auto, always or never")
	f.BoolVar(&g.ascii, "ascii", false, "draw with ASCII only")
	f.BoolVar(&g.readOnly, "read-only", false, "no key and no command can write")
	f.StringVar(&g.log, "log", "", "append errors, notices and requests to this file")
	g.registerS3(f)
}

// registerS3 registers what is said to S3 beside the environment and the files
// that the AWS CLI reads.
func (g *globalFlags) registerS3(f *pflag.FlagSet) {
	f.StringVar(&g.s3.Endpoint, "s3-endpoint", "", "URL or host:port of an S3 store that is not AWS")
	f.StringVar(&g.s3.Region, "s3-region", "", "region of the bucket (default: from the environment, then the bucket's own)")
	f.BoolVar(&g.s3.PathStyle, "s3-path-style", false, "the bucket is in the path, not in the host name")
	f.StringVar(&g.s3.Profile, "s3-profile", "", "profile of the AWS configuration")
	f.BoolVar(&g.s3.Anonymous, "s3-anonymous", false, "requests are not signed")
	f.StringVar(&g.s3.SSE, "s3-sse", "", "server-side encryption of what is written: AES256, aws:kms, aws:kms:dsse")
	f.StringVar(&g.s3.SSEKMSKeyID, "s3-sse-kms-key-id", "", "KMS key of what is written")
	f.StringVar(&g.s3.StorageClass, "s3-storage-class", "", "storage class of what is written")
	f.StringVar(&g.s3.ACL, "s3-acl", "", "canned ACL of what is written")
	f.BoolVar(&g.s3.RequestPayer, "s3-request-payer", false, "the requester pays")
}

// fromEnvironment sets every global flag that was not given from its variable
// and checks the values that are words.
func (g *globalFlags) fromEnvironment(cmd *cobra.Command, getenv func(string) string) error {
	var err error
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := environmentName(f.Name)
		value := getenv(name)
		if f.Changed || value == "" || err != nil {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(value, "\n")
		}
		for _, v := range values {
			if e := f.Value.Set(v); e != nil {
				err = usageError("%s=%q: %s", name, v, flagProblem(e))
			}
		}
	})
	if err != nil {
		return err
	}
	if g.color != "auto" && g.color != "always" && g.color != "never" {
		return usageError("--color %q: type auto, always or never", g.color)
	}
	if g.frameSize <= 0 {
		return usageError("--framesize %d: type a number of bytes above 0", g.frameSize)
	}
	return nil
}

// strconvError is what package strconv says of a text.
var strconvError = regexp.MustCompile(`strconv\.Parse(\w+): parsing "[^"]*": (.*)`)

// flagProblem says what is wrong with the value of a flag in the words of a person.
func flagProblem(err error) string {
	return strconvError.ReplaceAllStringFunc(err.Error(), func(s string) string {
		switch m := strconvError.FindStringSubmatch(s); {
		case strings.HasPrefix(m[2], "value out of range"):
			return "that number is too large"
		case m[1] == "Bool":
			return "type true or false"
		}
		return "type a whole number"
	})
}

func environmentName(flag string) string {
	return "CHKSCOPE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// options are the model's options that the flags say.
func (g *globalFlags) options() (model.Options, error) {
	opt := model.Options{FrameSize: g.frameSize, UIDs: append([]string(nil), g.uids...)}
	if g.sourceURI != "" {
		uri, err := store.FromArgument(g.sourceURI)
		if err != nil {
			return opt, usageError("--source-uri %q: %v", g.sourceURI, err)
		}
		opt.SourceURI = uri
	}
	if g.uidFile != "" {
		text, err := os.ReadFile(g.uidFile)
		if err != nil {
			return opt, usageError("--uids: %v", err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				opt.UIDs = append(opt.UIDs, line)
			}
		}
	}
	if g.jobGraph != "" {
		names, err := readJobGraph(g.jobGraph)
		if err != nil {
			return opt, err
		}
		opt.OperatorNames = names
	}
	return opt, nil
}

// mappings reads the --map flags.
func (g *globalFlags) mappings() (store.Mappings, error) {
	var all store.Mappings
	for _, text := range g.maps {
		m, err := store.ParseMapping(text)
		if err != nil {
			return nil, usageError("--map: %v; type --map FROM=TO", err)
		}
		all = append(all, m)
	}
	return all, nil
}

// readJobGraph reads the JSON that Flink's REST API gives for a job: the answer
// of /jobs/ID/plan {"plan":{"nodes":[{"id","description"}]}} or of /jobs/ID, which
// has "vertices":[{"id","name"}] too. The ids are those of the chain's head
// operator in a job whose vertices have one operator with state.
func readJobGraph(path string) (map[metadata.OperatorID]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError("--job-graph: %v", err)
	}
	type node struct{ ID, Name, Description string }
	var graph struct {
		Plan     struct{ Nodes []node }
		Nodes    []node
		Vertices []node
	}
	if err := json.Unmarshal(text, &graph); err != nil {
		return nil, usageError("--job-graph %s: not the JSON of a job: %v", path, err)
	}
	names := map[metadata.OperatorID]string{}
	for _, n := range append(append(graph.Plan.Nodes, graph.Nodes...), graph.Vertices...) {
		id, err := metadata.ParseOperatorID(n.ID)
		if err != nil {
			return nil, usageError("--job-graph %s: %v", path, err)
		}
		if n.Name == "" {
			n.Name = n.Description
		}
		names[id] = n.Name
	}
	if len(names) == 0 {
		return nil, usageError("--job-graph %s holds no vertices; save the answer of /jobs/ID there", path)
	}
	return names, nil
}

// frameSize is a number of bytes; Flink's own notation, 10485760b, is taken too.
type frameSize int64

func (n *frameSize) String() string { return strconv.FormatInt(int64(*n), 10) }
func (n *frameSize) Type() string   { return "int" }

func (n *frameSize) Set(s string) error {
	v, err := strconv.ParseInt(strings.TrimSuffix(s, "b"), 10, 64)
	*n = frameSize(v)
	return err
}
