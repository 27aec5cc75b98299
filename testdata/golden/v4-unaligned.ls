METADATA     %  ENTRIES  TYPE            NAME                                                    SELECTOR
   547 B  34.1           x2              59fa767824610e31f4a11d6125e09bf4                        59fa767824610e31f4a11d6125e09bf4
   324 B  20.2        4  in-flight         output                                                59fa767824610e31f4a11d6125e09bf4/in-flight/output
   162 B  10.1        2  in-flight           subtask 0                                           59fa767824610e31f4a11d6125e09bf4/in-flight/output/0
   162 B  10.1        2  in-flight           subtask 1                                           59fa767824610e31f4a11d6125e09bf4/in-flight/output/1
   166 B  10.4        2  in-flight         input                                                 59fa767824610e31f4a11d6125e09bf4/in-flight/input
    83 B   5.2        1  in-flight           subtask 0                                           59fa767824610e31f4a11d6125e09bf4/in-flight/input/0
    83 B   5.2        1  in-flight           subtask 1                                           59fa767824610e31f4a11d6125e09bf4/in-flight/input/1
   437 B  27.3           x2              5f811b48d11d1b8e2cbc8f6c8a0a7a76                        5f811b48d11d1b8e2cbc8f6c8a0a7a76
   372 B  23.2        4  in-flight         output                                                5f811b48d11d1b8e2cbc8f6c8a0a7a76/in-flight/output
   194 B  12.1        2  in-flight           subtask 1                                           5f811b48d11d1b8e2cbc8f6c8a0a7a76/in-flight/output/1
   178 B  11.1        2  in-flight           subtask 0                                           5f811b48d11d1b8e2cbc8f6c8a0a7a76/in-flight/output/0
   323 B  20.2           x2              9c32e3838cee893dbb2fc90ccad79598                        9c32e3838cee893dbb2fc90ccad79598
   252 B  15.7        ?  keyed             all names together                                    9c32e3838cee893dbb2fc90ccad79598/keyed
   126 B   7.9        ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/0
   126 B   7.9        ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/1
   295 B  18.4           x2              ca88eee0095684d687a1b6495617f957 (looks like a source)  ca88eee0095684d687a1b6495617f957
    64 B   4.0        2  operator split    SourceReaderState                                     ca88eee0095684d687a1b6495617f957/operator/SourceReaderState
    32 B   2.0        1  operator split      subtask 0                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/0
    32 B   2.0        1  operator split      subtask 1                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/1
    55 B   3.4        1  coordinator       coordinator                                           ca88eee0095684d687a1b6495617f957/coordinator
