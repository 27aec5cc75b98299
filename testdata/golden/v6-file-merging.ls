METADATA     %  ENTRIES  TYPE                NAME                                                    SELECTOR
 1.5 KiB  17.4           x2                  b303a366fe308f7c1a07602f4721c431 Buffering              b303a366fe308f7c1a07602f4721c431
   128 B   1.4       10  operator split        buffered-elements                                     b303a366fe308f7c1a07602f4721c431/operator/buffered-elements
    64 B   0.7        5  operator split          subtask 0                                           b303a366fe308f7c1a07602f4721c431/operator/buffered-elements/0
    64 B   0.7        5  operator split          subtask 1                                           b303a366fe308f7c1a07602f4721c431/operator/buffered-elements/1
    96 B   1.1        7  operator union        union-offsets                                         b303a366fe308f7c1a07602f4721c431/operator/union-offsets
    52 B   0.6        4  operator union          subtask 0                                           b303a366fe308f7c1a07602f4721c431/operator/union-offsets/0
    44 B   0.5        3  operator union          subtask 1                                           b303a366fe308f7c1a07602f4721c431/operator/union-offsets/1
    90 B   1.0        6  operator split        pending-orders                                        b303a366fe308f7c1a07602f4721c431/operator/pending-orders
    45 B   0.5        3  operator split          subtask 1                                           b303a366fe308f7c1a07602f4721c431/operator/pending-orders/1
    45 B   0.5        3  operator split          subtask 0                                           b303a366fe308f7c1a07602f4721c431/operator/pending-orders/0
 1.4 KiB  15.6           x2                  9c32e3838cee893dbb2fc90ccad79598 Enrich enrich          9c32e3838cee893dbb2fc90ccad79598
   672 B   7.4        ?  keyed                 all names together                                    9c32e3838cee893dbb2fc90ccad79598/keyed
   336 B   3.7        ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/1
   336 B   3.7        ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/0
       ?              ?  keyed                 recent-products                                       9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products/1
       ?              ?  keyed                 session-ttl                                           9c32e3838cee893dbb2fc90ccad79598/keyed/session-ttl
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/session-ttl/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/session-ttl/1
       ?              ?  keyed                 address                                               9c32e3838cee893dbb2fc90ccad79598/keyed/address
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/address/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/address/1
       ?              ?  keyed                 opaque                                                9c32e3838cee893dbb2fc90ccad79598/keyed/opaque
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/opaque/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/opaque/1
       ?              ?  keyed                 level                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/level
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/level/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/level/1
       ?              ?  keyed                 last-amount                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount/1
       ?              ?  keyed                 sum                                                   9c32e3838cee893dbb2fc90ccad79598/keyed/sum
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/sum/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/sum/1
       ?              ?  keyed                 history                                               9c32e3838cee893dbb2fc90ccad79598/keyed/history
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/history/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/history/1
       ?              ?  keyed                 aggregate                                             9c32e3838cee893dbb2fc90ccad79598/keyed/aggregate
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/aggregate/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/aggregate/1
       ?              ?  keyed                 tuple                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/tuple
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/tuple/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/tuple/1
       ?              ?  keyed                 blob                                                  9c32e3838cee893dbb2fc90ccad79598/keyed/blob
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/blob/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/blob/1
       ?              ?  keyed                 per-product                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product/1
       ?              ?  keyed                 order                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/order
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/order/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/order/1
       ?              ?  keyed                 click-avro                                            9c32e3838cee893dbb2fc90ccad79598/keyed/click-avro
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/click-avro/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/click-avro/1
       ?              ?  keyed                 _timer_state/processing_user-timers                   9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers/1
       ?              ?  keyed                 _timer_state/event_user-timers                        9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers/1
 1.4 KiB  15.5           x2                  f74da3e1073d1fceb0c7b6330cd7371c Named                  f74da3e1073d1fceb0c7b6330cd7371c
   672 B   7.4        ?  keyed                 all names together                                    f74da3e1073d1fceb0c7b6330cd7371c/keyed
   336 B   3.7        ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/*/1
   336 B   3.7        ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/*/0
       ?              ?  keyed                 ttl-map                                               f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-map
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-map/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-map/1
       ?              ?  keyed                 null-map                                              f74da3e1073d1fceb0c7b6330cd7371c/keyed/null-map
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/null-map/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/null-map/1
       ?              ?  keyed                 spaced                                                f74da3e1073d1fceb0c7b6330cd7371c/keyed/spaced
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/spaced/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/spaced/1
       ?              ?  keyed                 merged-list                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/merged-list
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/merged-list/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/merged-list/1
       ?              ?  keyed                 ttl-list                                              f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-list
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-list/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-list/1
 1.3 KiB  15.2           x2                  ca88eee0095684d687a1b6495617f957 Source: numbers        ca88eee0095684d687a1b6495617f957
    64 B   0.7        2  operator split        SourceReaderState                                     ca88eee0095684d687a1b6495617f957/operator/SourceReaderState
    32 B   0.4        1  operator split          subtask 0                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/0
    32 B   0.4        1  operator split          subtask 1                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/1
    55 B   0.6        1  coordinator           coordinator                                           ca88eee0095684d687a1b6495617f957/coordinator
 1.3 KiB  14.8           x2                  2e5b298c776b375c07269a9f5b4ca9bb With rules             2e5b298c776b375c07269a9f5b4ca9bb
    42 B   0.5        2  operator broadcast    limits                                                2e5b298c776b375c07269a9f5b4ca9bb/operator/limits
    21 B   0.2        1  operator broadcast      subtask 0                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/limits/0
    21 B   0.2        1  operator broadcast      subtask 1                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/limits/1
    40 B   0.4        2  operator broadcast    rules                                                 2e5b298c776b375c07269a9f5b4ca9bb/operator/rules
    20 B   0.2        1  operator broadcast      subtask 0                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/rules/0
    20 B   0.2        1  operator broadcast      subtask 1                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/rules/1
   761 B   8.4           x2                  5f811b48d11d1b8e2cbc8f6c8a0a7a76 Throttle numbers       5f811b48d11d1b8e2cbc8f6c8a0a7a76
   755 B   8.3           x1                  5182b45b6472b1a8299f474baebf57c3 Source: rules-source   5182b45b6472b1a8299f474baebf57c3
    55 B   0.6        1  coordinator           coordinator                                           5182b45b6472b1a8299f474baebf57c3/coordinator
    32 B   0.4        1  operator split        SourceReaderState                                     5182b45b6472b1a8299f474baebf57c3/operator/SourceReaderState
    32 B   0.4        1  operator split          subtask 0                                           5182b45b6472b1a8299f474baebf57c3/operator/SourceReaderState/0
   423 B   4.7           x1                  94d12c25e72725b2cc13903a5849219a Throttle rules-source  94d12c25e72725b2cc13903a5849219a
