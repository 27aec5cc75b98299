package metadata

import "testing"

func TestOperatorIDOf(t *testing.T) {
	tests := []struct{ uid, id string }{
		{"keyed-state-process-uid", "928f3b38bde6af749ed4cb45aa1237db"}, // stands with its uid in a file of Flink 2.0
		{"my-source", "5712e5a8bfbfa8943a95ff796efbcfa9"},
		{"", "00000000000000000000000000000000"},
		// Test values of MurmurHash3_x64_128 and Guava.
		{"The quick brown fox jumps over the lazy dog", "6c1b07bc7bbc4be347939ac4a93c437a"},
		{"The quick brown fox jumps over the lazy cog", "9a2685ff70a98c653e5c8ea6eae3fe43"},
		{"hell", "67f8103e694299624753ebba820bdb92"},
	}
	for _, tt := range tests {
		id := OperatorIDOf(tt.uid)
		if id.String() != tt.id {
			t.Errorf("%q: %s, want %s", tt.uid, id, tt.id)
		}
		if back, err := ParseOperatorID(tt.id); err != nil || back != id {
			t.Errorf("ParseOperatorID(%s) = %s, %v", tt.id, back, err)
		}
	}
	for _, s := range []string{"", "12", "zz8f3b38bde6af749ed4cb45aa1237db", "928f3b38bde6af749ed4cb45aa1237db00"} {
		if _, err := ParseOperatorID(s); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
}
