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
   126 B   7.9        ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/1
   126 B   7.9        ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/0
       ?              ?  keyed             recent-products                                       9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products/1
       ?              ?  keyed             session-ttl                                           9c32e3838cee893dbb2fc90ccad79598/keyed/session-ttl
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/session-ttl/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/session-ttl/1
       ?              ?  keyed             address                                               9c32e3838cee893dbb2fc90ccad79598/keyed/address
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/address/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/address/1
       ?              ?  keyed             opaque                                                9c32e3838cee893dbb2fc90ccad79598/keyed/opaque
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/opaque/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/opaque/1
       ?              ?  keyed             level                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/level
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/level/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/level/1
       ?              ?  keyed             last-amount                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount/1
       ?              ?  keyed             sum                                                   9c32e3838cee893dbb2fc90ccad79598/keyed/sum
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/sum/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/sum/1
       ?              ?  keyed             history                                               9c32e3838cee893dbb2fc90ccad79598/keyed/history
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/history/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/history/1
       ?              ?  keyed             aggregate                                             9c32e3838cee893dbb2fc90ccad79598/keyed/aggregate
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/aggregate/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/aggregate/1
       ?              ?  keyed             tuple                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/tuple
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/tuple/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/tuple/1
       ?              ?  keyed             blob                                                  9c32e3838cee893dbb2fc90ccad79598/keyed/blob
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/blob/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/blob/1
       ?              ?  keyed             per-product                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product/1
       ?              ?  keyed             order                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/order
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/order/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/order/1
       ?              ?  keyed             click-avro                                            9c32e3838cee893dbb2fc90ccad79598/keyed/click-avro
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/click-avro/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/click-avro/1
       ?              ?  keyed             _timer_state/processing_user-timers                   9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers/1
       ?              ?  keyed             _timer_state/event_user-timers                        9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers
       ?              ?  keyed               subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers/0
       ?              ?  keyed               subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers/1
   295 B  18.4           x2              ca88eee0095684d687a1b6495617f957 (looks like a source)  ca88eee0095684d687a1b6495617f957
    64 B   4.0        2  operator split    SourceReaderState                                     ca88eee0095684d687a1b6495617f957/operator/SourceReaderState
    32 B   2.0        1  operator split      subtask 0                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/0
    32 B   2.0        1  operator split      subtask 1                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/1
    55 B   3.4        1  coordinator       coordinator                                           ca88eee0095684d687a1b6495617f957/coordinator
