package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker where the build has no version control stamp:
// -ldflags "-X main.commit=… -X main.date=…".
var commit, date string

type versionDocument struct {
	Schema   int     `json:"schema"`
	Version  *string `json:"version"` // of the module, where it was installed as one
	Commit   *string `json:"commit"`
	Date     *string `json:"date"` // of the commit, RFC 3339
	Modified *bool   `json:"modified"`
	Go       string  `json:"go"`
	Platform string  `json:"platform"`
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Which chkscope this is: commit and date",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			v := newVersion(info)
			if p.flags.json {
				return p.writeJSON(v)
			}
			_, err := fmt.Fprintln(p.out, v.String())
			return err
		},
	}
}

func newVersion(info *debug.BuildInfo) versionDocument {
	v := versionDocument{
		Schema: schemaVersion, Commit: stringOrNull(commit), Date: stringOrNull(date),
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		return v
	}
	if info.Main.Version != "(devel)" {
		v.Version = stringOrNull(info.Main.Version)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = &s.Value
		case "vcs.time":
			v.Date = &s.Value
		case "vcs.modified":
			modified := s.Value == "true"
			v.Modified = &modified
		}
	}
	return v
}

func (v versionDocument) String() string {
	line := "chkscope"
	if v.Version != nil {
		line += " " + *v.Version
	}
	if v.Commit != nil {
		line += " commit " + *v.Commit
	} else {
		line += " (commit not recorded in this build)"
	}
	if v.Modified != nil && *v.Modified {
		line += " with changes"
	}
	if v.Date != nil {
		line += " of " + *v.Date
	}
	return line + ", " + v.Go + " " + v.Platform
}
