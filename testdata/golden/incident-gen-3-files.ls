METADATA     %  ENTRIES  TYPE            NAME                                                            SELECTOR
 6.8 KiB  72.8           x4              61252f73469d3ffba207c548d29a0267 (looks like a Kafka source)    61252f73469d3ffba207c548d29a0267
 6.1 KiB  65.3      768  operator union    topic-partition-offset-states                                 61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states
 1.5 KiB  16.3      192  operator union      subtask 0                                                   61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states/0
 1.5 KiB  16.3      192  operator union      subtask 1                                                   61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states/1
 1.5 KiB  16.3      192  operator union      subtask 2                                                   61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states/2
 1.5 KiB  16.3      192  operator union      subtask 3                                                   61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states/3
   207 B   2.1        1  coordinator       coordinator                                                   61252f73469d3ffba207c548d29a0267/coordinator
   192 B   2.0       12  operator split    SourceReaderState                                             61252f73469d3ffba207c548d29a0267/operator/SourceReaderState
    48 B   0.5        3  operator split      subtask 0                                                   61252f73469d3ffba207c548d29a0267/operator/SourceReaderState/0
    48 B   0.5        3  operator split      subtask 1                                                   61252f73469d3ffba207c548d29a0267/operator/SourceReaderState/1
    48 B   0.5        3  operator split      subtask 2                                                   61252f73469d3ffba207c548d29a0267/operator/SourceReaderState/2
    48 B   0.5        3  operator split      subtask 3                                                   61252f73469d3ffba207c548d29a0267/operator/SourceReaderState/3
 1.5 KiB  15.7           x4              b71731f1c0df9c3076c4a455334d0ad6                                b71731f1c0df9c3076c4a455334d0ad6
 1.4 KiB  14.5        ?  keyed             all names together                                            b71731f1c0df9c3076c4a455334d0ad6/keyed
   350 B   3.6        ?  keyed               subtask 3                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/*/3
   350 B   3.6        ?  keyed               subtask 0                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/*/0
   350 B   3.6        ?  keyed               subtask 1                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/*/1
   350 B   3.6        ?  keyed               subtask 2                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/*/2
       ?              ?  keyed             session                                                       b71731f1c0df9c3076c4a455334d0ad6/keyed/session
       ?              ?  keyed               subtask 0                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/session/0
       ?              ?  keyed               subtask 1                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/session/1
       ?              ?  keyed               subtask 2                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/session/2
       ?              ?  keyed               subtask 3                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/session/3
       ?              ?  keyed             count                                                         b71731f1c0df9c3076c4a455334d0ad6/keyed/count
       ?              ?  keyed               subtask 0                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/count/0
       ?              ?  keyed               subtask 1                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/count/1
       ?              ?  keyed               subtask 2                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/count/2
       ?              ?  keyed               subtask 3                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/count/3
       ?              ?  keyed             _timer_state/processing_user-timers                           b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fprocessing_user-timers
       ?              ?  keyed               subtask 0                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fprocessing_user-timers/0
       ?              ?  keyed               subtask 1                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fprocessing_user-timers/1
       ?              ?  keyed               subtask 2                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fprocessing_user-timers/2
       ?              ?  keyed               subtask 3                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fprocessing_user-timers/3
       ?              ?  keyed             _timer_state/event_user-timers                                b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fevent_user-timers
       ?              ?  keyed               subtask 0                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fevent_user-timers/0
       ?              ?  keyed               subtask 1                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fevent_user-timers/1
       ?              ?  keyed               subtask 2                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fevent_user-timers/2
       ?              ?  keyed               subtask 3                                                   b71731f1c0df9c3076c4a455334d0ad6/keyed/_timer_state%2Fevent_user-timers/3
   601 B   6.2           x4              6f007a2ee602da0824249dbe09fd0b1e (looks like a sink committer)  6f007a2ee602da0824249dbe09fd0b1e
   148 B   1.5        0  operator split    streaming_committer_raw_states                                6f007a2ee602da0824249dbe09fd0b1e/operator/streaming_committer_raw_states
    37 B   0.4        0  operator split      subtask 0                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/streaming_committer_raw_states/0
    37 B   0.4        0  operator split      subtask 1                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/streaming_committer_raw_states/1
    37 B   0.4        0  operator split      subtask 2                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/streaming_committer_raw_states/2
    37 B   0.4        0  operator split      subtask 3                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/streaming_committer_raw_states/3
   128 B   1.3        4  operator split    writer_raw_states                                             6f007a2ee602da0824249dbe09fd0b1e/operator/writer_raw_states
    32 B   0.3        1  operator split      subtask 0                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/writer_raw_states/0
    32 B   0.3        1  operator split      subtask 1                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/writer_raw_states/1
    32 B   0.3        1  operator split      subtask 2                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/writer_raw_states/2
    32 B   0.3        1  operator split      subtask 3                                                   6f007a2ee602da0824249dbe09fd0b1e/operator/writer_raw_states/3
   505 B   5.2           x4              3f2e38354e9d77b1efae026f9f3d2de9 (looks like a sink committer)  3f2e38354e9d77b1efae026f9f3d2de9
   180 B   1.9        4  operator split    streaming_committer_raw_states                                3f2e38354e9d77b1efae026f9f3d2de9/operator/streaming_committer_raw_states
    45 B   0.5        1  operator split      subtask 0                                                   3f2e38354e9d77b1efae026f9f3d2de9/operator/streaming_committer_raw_states/0
    45 B   0.5        1  operator split      subtask 1                                                   3f2e38354e9d77b1efae026f9f3d2de9/operator/streaming_committer_raw_states/1
    45 B   0.5        1  operator split      subtask 2                                                   3f2e38354e9d77b1efae026f9f3d2de9/operator/streaming_committer_raw_states/2
    45 B   0.5        1  operator split      subtask 3                                                   3f2e38354e9d77b1efae026f9f3d2de9/operator/streaming_committer_raw_states/3
